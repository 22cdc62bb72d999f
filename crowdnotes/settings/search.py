"""The search providers: keys, addresses, patience."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class SearchSettings(BaseSettings):
    """The search providers: keys, addresses, patience."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_SEARCH_", frozen=True)

    services: tuple[str, ...] = Field(
        ("europe-pmc", "pubmed", "medlineplus", "wikipedia", "crossref"),
        description="online services ticked at first; [] asks none unless you tick it",
    )
    contact_email: str | None = Field(
        None, description="told to Wikipedia, NCBI and Crossref, who ask for it and serve those who say it better"
    )
    request_seconds: float = Field(8.0, gt=0, description="for one request, so that a slow drip ends too")
    provider_seconds: float = Field(20.0, gt=0, description="for all that one provider is asked in one search")
    patience_seconds: float = Field(
        5.0, gt=0, description="after it, a provider that has answered something is asked nothing more"
    )
    ncbi_api_key: SecretStr | None = Field(None, description="PubMed then allows 10 requests a second instead of 3")
    google_fact_check_key: SecretStr | None = Field(None, description="switches Google Fact Check Tools on")
    brave_key: SecretStr | None = Field(None, description="switches Brave Search on")
    brave_per_second: float = Field(1.0, gt=0, description="requests a second that your Brave plan allows")
    tavily_key: SecretStr | None = Field(None, description="switches Tavily on")
    searxng_url: str | None = Field(None, description="your SearXNG server; it must give the format json")
    europe_pmc_url: str = Field(
        "https://www.ebi.ac.uk/europepmc/webservices/rest", description="Europe PMC, or a mirror of it"
    )
    pubmed_url: str = Field("https://eutils.ncbi.nlm.nih.gov/entrez/eutils", description="NCBI E-utilities")
    medlineplus_url: str = Field("https://wsearch.nlm.nih.gov/ws", description="the MedlinePlus web service")
    wikipedia_url: str = Field(
        "https://{language}.wikipedia.org/w", description="MediaWiki's folder of scripts; {language} is filled in"
    )
    crossref_url: str = Field("https://api.crossref.org/v1", description="the Crossref REST API")
    google_fact_check_url: str = Field(
        "https://factchecktools.googleapis.com/v1alpha1", description="Google Fact Check Tools"
    )
    brave_url: str = Field("https://api.search.brave.com/res/v1", description="the Brave Search API")
    tavily_url: str = Field("https://api.tavily.com", description="the Tavily API")
