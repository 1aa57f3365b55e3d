from .coupling import Coupling as Coupling
from .coupling import north_west_corner as north_west_corner
from .wasserstein import Lifting as Lifting
from .wasserstein import OptimalLifting as OptimalLifting
from .wasserstein import Wasserstein as Wasserstein
from .wasserstein import lifting as lifting
from .wasserstein import optimal_lifting as optimal_lifting
from .wasserstein import wasserstein as wasserstein
