"""Many cases at one look: times, outcomes, sources, mending, agreement and cost, each with what it tells."""

from crowdnotes.overview.pictures import (
    ENDINGS,
    FEW,
    Counted,
    Filter,
    Overview,
    Picture,
    Sides,
    Spread,
    in_time,
    overview,
)
from crowdnotes.reports.case_figures import CaseFigures, Course, figures_of, read
from crowdnotes.studies.bench.source_study import UtilityStudy, saved_study, utility_table, utility_verdict
