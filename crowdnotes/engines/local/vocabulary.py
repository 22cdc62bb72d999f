"""Small word lists of the health domain. What things are called stands in health_terms.toml.

General medical English, not drawn from any data set. A word that is missing here costs a little
search quality, never correctness.
"""

from __future__ import annotations

_HEALTH = (
    "abortion acne addiction aids alcohol allergy alzheimer anemia antibiotic antibody anxiety aorta artery "
    "arthritis "
    "aspartame aspirin asthma autism bacteria birth bladder blood bone bowel brain breast bronchitis calcium "
    "cancer cannabis "
    "carcinogen cardiac cell chemotherapy cholesterol clinical clot collagen colon contraceptive cough covid "
    "coronavirus "
    "cure dementia depression dental detox diabetes diagnosis diarrhea diet disability disease doctor dose "
    "drug ebola "
    "eczema embryo enzyme epidemic epilepsy estrogen fatal fentanyl fertility fetal fever fluoride flu fungus "
    "gene genetic "
    "glucose gluten glyphosate gut headache health heart hepatitis herb herpes hiv hormone hospital hpv "
    "hydroxychloroquine "
    "hypertension ibuprofen immune immunity infection infertility inflammation influenza insulin intestine "
    "iron ivermectin "
    "kidney leukemia liver lung lupus lymphoma malaria mammogram mask measles medicine melanoma menopause mercury "
    "metabolism microbiome migraine miscarriage mortality mrna mumps muscle myocarditis nerve neurological nicotine "
    "nutrient obesity omega opioid organ outbreak ovary overdose pancreas pandemic parasite parkinson patient "
    "pesticide "
    "pharma physician placebo pneumonia poison polio pregnancy prostate protein psychiatric radiation rash "
    "scan seizure "
    "sepsis serotonin side-effect skin sleep smoking sperm spike statin steroid stroke sugar suicide "
    "sunscreen supplement "
    "surgery symptom syndrome testosterone therapy thyroid toxic toxin transplant treatment tuberculosis tumor ulcer "
    "vaccine vaping virus vitamin wellness zinc "
    # as posts say it
    "jab vax vaxx rona preggers pregnant kids babies autistic meds pills chemo weed pot marijuana shingles chickenpox "
    "heartburn monkeypox h5n1 mmr sids msg tylenol paracetamol advil ozempic"
)
HEALTH_WORDS = frozenset(_HEALTH.split())

CAUSAL_WORDS = frozenset(
    "cause causes caused causing cures cure cured curing prevents prevent prevented preventing kills kill "
    "killed killing "
    "heals heal triggers trigger triggered leads lead led linked link links associated increases increase increased "
    "reduces reduce reduced decreases destroys destroy damages damage harms harm boosts boost treats treat treated "
    "eliminates reverses reverse contains contain contaminated proves proven prove shows showed reveals "
    "banned approved "
    "mandated infected spreads spread transmitted died dies die dead injured results resulted makes turns "
    "protects protect".split()
)

# Past forms that are no nouns or adjectives as well ("left", "felt"): what somebody did is no name of a subject.
PAST_FORMS = frozenset(
    "flew flown ate eaten drank gave given took taken grew grown hid hidden knew known threw thrown wrote written "
    "drove driven rode ridden spoke stole stolen chose chosen froze broke woke fell fallen went gone came became "
    "began begun ran sang sank swam swore tore wore brought bought caught fought sought taught thought built bent "
    "lent sent spent slept kept swept wept dealt meant lost shot sold told held found paid said laid led met sat "
    "won hung dug stuck struck forgot forgave withdrew overthrew blew drew shook undertook mistook ordered "
    "cancelled canceled stopped banned signed fired killed".split()
)
