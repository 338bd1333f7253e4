"""The cards of tables with known truth."""

from __future__ import annotations

from bench.datasets.tabular.dataset import Card

_BNLEARN = "https://www.bnlearn.com/bnrepository/"
_OWN = "this project, 2026"

GENERATED: tuple[Card, ...] = (
    *(
        Card(
            name=name,
            title=title,
            summary=summary,
            source="generated",
            licence="Apache-2.0",
            citation=citation,
            rows=12_500,
            columns=columns,
            target=target,
            data="generated",
        )
        for name, title, columns, target, citation, summary in (
            (
                "scm_lin10",
                "Linear Gaussian model",
                10,
                "x9",
                _OWN,
                "Ten variables, 15 edges, linear effects and normal noise of variance 1.",
            ),
            (
                "scm_lingam10",
                "Linear non-Gaussian model",
                10,
                "x9",
                f"{_OWN}; after S. Shimizu et al. (2006), A linear non-Gaussian acyclic model for causal discovery",
                "The graph and weights of scm_lin10 with Laplace noise, which makes directions identifiable.",
            ),
            (
                "scm_anm10",
                "Additive noise model",
                10,
                "x9",
                f"{_OWN}; after P. Hoyer et al. (2009), Nonlinear causal discovery with additive noise models",
                "The graph of scm_lin10 with tanh effects.",
            ),
            (
                "scm_mix12",
                "Mixed model",
                12,
                "amount",
                _OWN,
                "Numbers, categories, counts and zero-inflated amounts, with values missing at random.",
            ),
            (
                "bn_rand20",
                "Random Bayesian network",
                20,
                "n19",
                _OWN,
                "20 variables of 2 to 5 states, up to three parents, Dirichlet(0.5) probabilities.",
            ),
        )
    ),
    *(
        Card(
            name=name,
            title=f"Bayesian network {name}",
            summary=f"A published network of {nodes} variables and {edges} edges.",
            source=f"{name}.bif of pgmpy below 1.3, or the Bayesian network repository",
            licence="CC-BY-SA-3.0",
            citation=citation,
            rows=12_500,
            columns=nodes,
            target=target,
            data="generated",
            url=_BNLEARN,
        )
        for name, nodes, edges, target, citation in (
            ("asia", 8, 8, "dysp",
             "S. L. Lauritzen and D. J. Spiegelhalter (1988), Local Computations with Probabilities on Graphical "
             "Structures"),
            ("sachs", 11, 17, "Akt", "K. Sachs et al. (2005), Causal Protein-Signaling Networks"),
            ("child", 20, 25, "Disease",
             "D. J. Spiegelhalter and R. G. Cowell (1992), Learning in probabilistic expert systems"),
            ("insurance", 27, 52, "PropCost",
             "J. Binder et al. (1997), Adaptive Probabilistic Networks with Hidden Variables"),
            ("alarm", 37, 46, "BP", "I. A. Beinlich et al. (1989), The ALARM Monitoring System"),
        )
    ),
)  # fmt: skip
