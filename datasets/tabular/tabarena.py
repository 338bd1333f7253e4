"""The 45 OpenML data sets of TabArena that TabStruct and TabFORGE evaluate on: facts, one line each.

Ids: package tabcamel 2026.10.8. Other columns: curated_tabarena_dataset_metadata.csv of autogluon/tabarena
(Apache-2.0).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

_B: Literal["binary"] = "binary"
_M: Literal["multiclass"] = "multiclass"
_R: Literal["regression"] = "regression"


class OpenMLTable(NamedTuple):
    """An OpenML data set: its id, that of its task, name, target, task, sizes (target included), licence, origin."""

    dataset_id: int
    task_id: int
    name: str
    target: str
    task: Literal["binary", "multiclass", "regression"]
    rows: int
    columns: int
    licence: str
    source: str
    year: int
    url: str


TABARENA: tuple[OpenMLTable, ...] = (
    OpenMLTable(
        46904, 363612, "airfoil_self_noise", "scaled-sound-pressure",
        _R, 1_503, 6, "CC BY 4.0", "UCI", 2014,
        "https://doi.org/10.24432/C5VW2C",
    ),
    OpenMLTable(
        46906, 363614, "anneal", "classes",
        _M, 898, 39, "CC BY 4.0", "UCI", 1990,
        "https://doi.org/10.24432/C5RW2F",
    ),
    OpenMLTable(
        46907, 363615, "Another-Dataset-on-used-Fiat-500", "price",
        _R, 1_538, 8, "CC0: Public Domain", "Kaggle", 2020,
        "https://www.kaggle.com/datasets/paolocons/another-fiat-500-dataset-1538-rows",
    ),
    OpenMLTable(
        46908, 363616, "APSFailure", "AirPressureSystemFailure",
        _B, 76_000, 171, "CC BY 4.0", "UCI", 2016,
        "https://doi.org/10.24432/C5V60Q",
    ),
    OpenMLTable(
        46911, 363619, "Bank_Customer_Churn", "churn",
        _B, 10_000, 11, "Public", "Kaggle", 2020,
        "https://www.kaggle.com/datasets/gauravtopre/bank-customer-churn-dataset",
    ),
    OpenMLTable(
        46912, 363620, "Bioresponse", "MoleculeElicitsResponse",
        _B, 3_751, 1_777, "Public Domain", "Kaggle", 2012,
        "https://www.kaggle.com/c/bioresponse",
    ),
    OpenMLTable(
        46913, 363621, "blood-transfusion-service-center", "DonatedBloodInMarch2007",
        _B, 748, 5, "CC BY 4.0", "UCI", 2008,
        "https://doi.org/10.24432/C5GS39",
    ),
    OpenMLTable(
        46915, 363623, "churn", "CustomerChurned",
        _B, 5_000, 20, "MIT License", "OpenML", 2005,
        "https://github.com/EpistasisLab/pmlb/tree/master/datasets/churn",
    ),
    OpenMLTable(
        46916, 363624, "coil2000_insurance_policies", "MobileHomePolicy",
        _B, 9_822, 86, "CC BY 4.0", "UCI", 2000,
        "https://doi.org/10.24432/C5630S",
    ),
    OpenMLTable(
        46917, 363625, "concrete_compressive_strength", "ConcreteCompressiveStrength",
        _R, 1_030, 9, "CC BY 4.0", "UCI", 1998,
        "https://doi.org/10.24432/C5PK67",
    ),
    OpenMLTable(
        46918, 363626, "credit-g", "good_or_bad_customer",
        _B, 1_000, 21, "CC BY 4.0", "UCI", 1994,
        "https://doi.org/10.24432/C5NC77",
    ),
    OpenMLTable(
        46919, 363627, "credit_card_clients_default", "DefaultOnPaymentNextMonth",
        _B, 30_000, 24, "CC BY 4.0", "UCI", 2009,
        "https://doi.org/10.24432/C55S3H",
    ),
    OpenMLTable(
        46920, 363628, "customer_satisfaction_in_airline", "satisfaction",
        _B, 129_880, 22, "CC0: Public Domain", "Kaggle", 2023,
        "https://www.kaggle.com/datasets/yakhyojon/customer-satisfaction-in-airline",
    ),
    OpenMLTable(
        46921, 363629, "diabetes", "TestedPositiveForDiabetes",
        _B, 768, 9, "CC0: Public Domain", "OpenML", 1988,
        "https://www.kaggle.com/datasets/uciml/pima-indians-diabetes-database",
    ),
    OpenMLTable(
        46922, 363630, "Diabetes130US", "EarlyReadmission",
        _B, 71_518, 48, "CC BY 4.0", "UCI", 2014,
        "https://doi.org/10.24432/C5230J",
    ),
    OpenMLTable(
        46923, 363631, "diamonds", "price",
        _R, 53_940, 10, "MIT License", "Other", 2015,
        "https://github.com/tidyverse/ggplot2/blob/main/data-raw/diamonds.csv",
    ),
    OpenMLTable(
        46924, 363632, "E-CommereShippingData", "ArrivedLate",
        _B, 10_999, 11, "Public Domain", "Kaggle", 2021,
        "https://www.kaggle.com/datasets/prachi13/customer-analytics",
    ),
    OpenMLTable(
        46927, 363671, "Fitness_Club", "attended",
        _B, 1_500, 7, "Public Domain", "Kaggle", 2023,
        "https://www.kaggle.com/datasets/ddosad/datacamps-data-science-associate-certification",
    ),
    OpenMLTable(
        46928, 363672, "Food_Delivery_Time", "Time_taken(min)",
        _R, 45_451, 10, "Database Contents License (DbCL) v1.0", "Kaggle", 2023,
        "https://www.kaggle.com/datasets/rajatkumar30/food-delivery-time",
    ),
    OpenMLTable(
        46929, 363673, "GiveMeSomeCredit", "FinancialDistressNextTwoYears",
        _B, 150_000, 11, "Public", "Kaggle", 2011,
        "https://www.kaggle.com/competitions/GiveMeSomeCredit",
    ),
    OpenMLTable(
        46930, 363674, "hazelnut-spread-contaminant-detection", "Contaminated",
        _B, 2_400, 31, "CC BY-SA", "OpenML", 2020,
        "https://www.openml.org/d/45538",
    ),
    OpenMLTable(
        46931, 363675, "healthcare_insurance_expenses", "charges",
        _R, 1_338, 7, "Database Contents License (DbCL) v1.0", "Kaggle", 2023,
        "https://www.kaggle.com/datasets/arunjangir245/healthcare-insurance-expenses/",
    ),
    OpenMLTable(
        46932, 363676, "heloc", "RiskPerformance",
        _B, 10_459, 24, "Public", "Kaggle", 2021,
        "https://www.kaggle.com/datasets/averkiyoliabev/home-equity-line-of-creditheloc",
    ),
    OpenMLTable(
        46934, 363678, "houses", "LnMedianHouseValue",
        _R, 20_640, 9, "Public", "Other", 1990,
        "https://lib.stat.cmu.edu/datasets/",
    ),
    OpenMLTable(
        46935, 363679, "HR_Analytics_Job_Change_of_Data_Scientists", "LookingForJobChange",
        _B, 19_158, 13, "CC0: Public Domain", "Kaggle", 2021,
        "https://www.kaggle.com/datasets/arashnic/hr-analytics-job-change-of-data-scientists",
    ),
    OpenMLTable(
        46937, 363681, "in_vehicle_coupon_recommendation", "AcceptCoupon",
        _B, 12_684, 25, "CC BY 4.0", "UCI", 2017,
        "https://doi.org/10.24432/C5GS4P",
    ),
    OpenMLTable(
        46938, 363682, "Is-this-a-good-customer", "bad_client_target",
        _B, 1_723, 14, "CC0: Public Domain", "Kaggle", 2020,
        "https://www.kaggle.com/datasets/podsyp/is-this-a-good-customer",
    ),
    OpenMLTable(
        46939, 363683, "kddcup09_appetency", "appetency",
        _B, 50_000, 213, "Public", "Other", 2008,
        "https://kdd.org/kdd-cup/view/kdd-cup-2009/Intro",
    ),
    OpenMLTable(
        46940, 363684, "Marketing_Campaign", "Response",
        _B, 2_240, 26, "Public", "Kaggle", 2020,
        "https://www.kaggle.com/datasets/rodsaldanha/arketing-campaign",
    ),
    OpenMLTable(
        46941, 363685, "maternal_health_risk", "RiskLevel",
        _M, 1_014, 7, "CC BY 4.0", "UCI", 2020,
        "https://doi.org/10.24432/C5DP5D",
    ),
    OpenMLTable(
        46942, 363686, "miami_housing", "SALE_PRC",
        _R, 13_776, 16, "CC BY-NC-SA", "OpenML", 2016,
        "https://www.openml.org/d/43093",
    ),
    OpenMLTable(
        46980, 363711, "MIC", "LET_IS",
        _M, 1_699, 112, "CC BY 4.0", "UCI", 2020,
        "https://doi.org/10.24432/C53P5M",
    ),
    OpenMLTable(
        46969, 363689, "NATICUSdroid", "Malware",
        _B, 7_491, 87, "CC BY 4.0", "UCI", 2021,
        "https://doi.org/10.24432/C5FS64",
    ),
    OpenMLTable(
        46949, 363693, "physiochemical_protein", "ResidualSize",
        _R, 45_730, 10, "CC BY 4.0", "UCI", 2013,
        "https://doi.org/10.24432/C5QW3H",
    ),
    OpenMLTable(
        46950, 363694, "polish_companies_bankruptcy", "company_bankrupt",
        _B, 5_910, 65, "CC BY 4.0", "UCI", 2010,
        "https://doi.org/10.24432/C5F600",
    ),
    OpenMLTable(
        46952, 363696, "qsar-biodeg", "Biodegradable",
        _B, 1_054, 42, "CC BY 4.0", "UCI", 2013,
        "https://doi.org/10.24432/C5H60M",
    ),
    OpenMLTable(
        46953, 363697, "QSAR-TID-11", "MEDIAN_PXC50",
        _R, 5_742, 1_025, "Public", "OpenML", 2015,
        "https://www.openml.org/d/3050",
    ),
    OpenMLTable(
        46954, 363698, "QSAR_fish_toxicity", "LC50",
        _R, 907, 7, "CC BY 4.0", "UCI", 2015,
        "https://doi.org/10.24432/C5JG7B",
    ),
    OpenMLTable(
        46955, 363699, "SDSS17", "ObjectType",
        _M, 78_053, 12, "Public Domain", "Kaggle", 2022,
        "https://www.kaggle.com/datasets/fedesoriano/stellar-classification-dataset-sdss17",
    ),
    OpenMLTable(
        46956, 363700, "seismic-bumps", "HighEnergySeismicBump",
        _B, 2_584, 16, "CC BY 4.0", "UCI", 2013,
        "https://doi.org/10.24432/C5W902",
    ),
    OpenMLTable(
        46960, 363704, "students_dropout_and_academic_success", "AcademicOutcome",
        _M, 4_424, 37, "CC BY 4.0", "UCI", 2021,
        "https://doi.org/10.24432/C5MC89",
    ),
    OpenMLTable(
        46961, 363705, "superconductivity", "critical_temp",
        _R, 21_263, 82, "CC BY 4.0", "UCI", 2018,
        "https://doi.org/10.24432/C53P47",
    ),
    OpenMLTable(
        46962, 363706, "taiwanese_bankruptcy_prediction", "Bankrupt",
        _B, 6_819, 95, "CC BY 4.0", "UCI", 2009,
        "https://doi.org/10.24432/C5004D",
    ),
    OpenMLTable(
        46964, 363708, "wine_quality", "median_wine_quality",
        _R, 6_497, 13, "CC BY 4.0", "UCI", 2009,
        "https://doi.org/10.24432/C56S3T",
    ),
    OpenMLTable(
        46979, 363712, "jm1", "defects",
        _B, 10_885, 22, "Public Domain", "OpenML", 2004,
        "https://www.openml.org/d/1053",
    ),
)  # fmt: skip
