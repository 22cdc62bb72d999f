"""Whether a search result is a fact-check, and by whom: has the claim been checked already?

A maintained table of hosts (and paths on hosts that publish other things too) of organisations that have
signed the code of principles of the International Fact-Checking Network:
https://ifcncodeofprinciples.poynter.org/signatories
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from crowdnotes.domain import Hit

_REVIEWS_ONLY = "google-fact-check"  # a provider that gives nothing but reviews of claims
_CHECKERS = {
    "211check.org": "211 Check",
    "aap.com.au/factcheck": "AAP FactCheck",
    "africacheck.org": "Africa Check",
    "altnews.in": "Alt News",
    "annielab.org": "Annie Lab",
    "aosfatos.org": "Aos Fatos",
    "apnews.com/ap-fact-check": "Associated Press Fact Check",
    "apnews.com/article/fact-check": "Associated Press Fact Check",
    "boomlive.in": "BOOM",
    "channel4.com/news/factcheck": "Channel 4 FactCheck",
    "checkyourfact.com": "Check Your Fact",
    "chequeado.com": "Chequeado",
    "climatefeedback.org": "Science Feedback",
    "colombiacheck.com": "Colombiacheck",
    "correctiv.org/faktencheck": "CORRECTIV.Faktencheck",
    "demagog.cz": "Demagog.cz",
    "demagog.org.pl": "Demagog",
    "dogrulukpayi.com": "Doğruluk Payı",
    "dpa-factchecking.com": "dpa-Faktencheck",
    "dubawa.org": "Dubawa",
    "ellinikahoaxes.gr": "Ellinika Hoaxes",
    "estadao.com.br/estadao-verifica": "Estadão Verifica",
    "facta.news": "Facta",
    "factcheck.afp.com": "AFP Fact Check",
    "factcheck.ge": "FactCheck Georgia",
    "factcheck.org": "FactCheck.org",
    "factcrescendo.com": "Fact Crescendo",
    "factly.in": "Factly",
    "factual.afp.com": "AFP Factual",
    "factuel.afp.com": "AFP Factuel",
    "faktencheck.afp.com": "AFP Faktencheck",
    "faktograf.hr": "Faktograf",
    "fatabyyano.net": "Fatabyyano",
    "francetvinfo.fr/vrai-ou-fake": "franceinfo Vrai ou Faux",
    "fullfact.org": "Full Fact",
    "ghanafact.com": "GhanaFact",
    "healthfeedback.org": "Health Feedback",
    "istinomer.rs": "Istinomer",
    "knack.be/factcheck": "Knack Factcheck",
    "konkret24.tvn24.pl": "Konkret24",
    "leadstories.com": "Lead Stories",
    "lemonde.fr/les-decodeurs": "Les Décodeurs",
    "logicallyfacts.com": "Logically Facts",
    "lupa.uol.com.br": "Lupa",
    "maldita.es": "Maldita.es",
    "misbar.com": "Misbar",
    "mythdetector.com": "Myth Detector",
    "newschecker.in": "Newschecker",
    "newtral.es": "Newtral",
    "nieuwscheckers.nl": "Nieuwscheckers",
    "observador.pt/factchecks": "Observador Fact Check",
    "pagellapolitica.it": "Pagella Politica",
    "pesacheck.org": "PesaCheck",
    "poligrafo.sapo.pt": "Polígrafo",
    "politifact.com": "PolitiFact",
    "projetocomprova.com.br": "Comprova",
    "rappler.com/newsbreak/fact-check": "Rappler",
    "raskrinkavanje.ba": "Raskrinkavanje",
    "reuters.com/article/factcheck": "Reuters Fact Check",
    "reuters.com/fact-check": "Reuters Fact Check",
    "science.feedback.org": "Science Feedback",
    "sciencefeedback.co": "Science Feedback",
    "snopes.com": "Snopes",
    "stopfake.org": "StopFake",
    "teyit.org": "Teyit",
    "tfc-taiwan.org.tw": "Taiwan FactCheck Center",
    "theferret.scot/fact-check": "The Ferret",
    "thejournal.ie/factcheck": "The Journal FactCheck",
    "thequint.com/news/webqoof": "The Quint WebQoof",
    "thip.media": "THIP Media",
    "turnbackhoax.id": "MAFINDO",
    "usatoday.com/story/news/factcheck": "USA TODAY",
    "verafiles.org": "VERA Files",
    "verifica.efe.com": "EFE Verifica",
    "vishvasnews.com": "Vishvas News",
}


def fact_checker(url: str | None) -> str | None:
    """The known fact-checker that publishes the page, by host and path; None for others and for home pages."""
    try:
        parts = urlsplit(url or "")
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    path = parts.path.strip("/").lower()
    if not path:
        return None
    labels = host.split(".")
    suffixes = [".".join(labels[first:]) for first in range(len(labels) - 1)]
    for key, name in _CHECKERS.items():
        site, _, section = key.partition("/")
        # A section's own name may go on ("…/fact-check-the-vaccine") but not begin another word.
        if site in suffixes and re.match(rf"{re.escape(section)}(?:$|[/-])" if section else "", path):
            return name
    return None


def fact_checks(hits: Iterable[Hit]) -> list[Hit]:
    """The hits that are checks of a claim, whoever found them, in their order; those with a rating first."""
    checks = [hit for hit in hits if _REVIEWS_ONLY in (hit.provider, *hit.also_found_by) or fact_checker(hit.url)]
    return sorted(checks, key=lambda hit: not hit.rating)
