"""Small word lists of the health domain: what posts say, what authorities say, and what things are called.

General medical English, not drawn from any data set. A word that is missing here costs a little
search quality, never correctness.
"""

from __future__ import annotations

# Lay or slang word, folded, to the term that authorities use. Only well-known synonyms.
LAY_TO_MEDICAL: dict[str, str] = {
    "jab": "vaccine",
    "jabs": "vaccine",
    "jabbed": "vaccinated",
    "vax": "vaccine",
    "vaxx": "vaccine",
    "vaxxed": "vaccinated",
    "vaxxines": "vaccines",
    "unvaxxed": "unvaccinated",
    "covid shot": "covid-19 vaccine",
    "covid shots": "covid-19 vaccines",
    "booster shot": "booster vaccine",
    "clot shot": "covid-19 vaccine",
    "flu": "influenza",
    "flu shot": "influenza vaccine",
    "covid": "covid-19",
    "rona": "covid-19",
    "heart attack": "myocardial infarction",
    "heart attacks": "myocardial infarction",
    "stroke": "cerebrovascular accident",
    "high blood pressure": "hypertension",
    "blood clots": "thrombosis",
    "blood clot": "thrombosis",
    "cancer": "neoplasm",
    "chemo": "chemotherapy",
    "blood sugar": "blood glucose",
    "measles": "rubeola",
    "whooping cough": "pertussis",
    "shingles": "herpes zoster",
    "chickenpox": "varicella",
    "mad cow": "prion disease",
    "acid reflux": "gastroesophageal reflux",
    "heartburn": "gastroesophageal reflux",
    "tylenol": "acetaminophen",
    "paracetamol": "acetaminophen",
    "advil": "ibuprofen",
    "weed": "cannabis",
    "pot": "cannabis",
    "marijuana": "cannabis",
    "preggers": "pregnancy",
    "pregnant": "pregnancy",
    "birth control": "contraception",
    "abortion pill": "mifepristone",
    "puberty blockers": "gonadotropin-releasing hormone agonist",
    "ozempic": "semaglutide",
    "kids": "children",
    "babies": "infants",
    "raw milk": "unpasteurized milk",
    "meds": "medicines",
    "pills": "medicines",
    "zombie deer disease": "chronic wasting disease",
    "bird flu": "avian influenza",
    "h5n1": "avian influenza",
    "mmr": "measles mumps rubella",
    "monkeypox": "mpox",
    "seed oils": "vegetable oils omega-6",
    "msg": "monosodium glutamate",
    "autistic": "autism",
    "stomach flu": "gastroenteritis",
    "pink eye": "conjunctivitis",
    "miscarriage": "pregnancy loss",
    "miscarriages": "pregnancy loss",
    "sids": "sudden infant death syndrome",
}

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
    "vaccine vaping virus vitamin wellness zinc"
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
