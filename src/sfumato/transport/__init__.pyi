from .coupling import Coupling as Coupling
from .coupling import north_west_corner as north_west_corner
from .lifting import Lifting as Lifting
from .lifting import OptimalLifting as OptimalLifting
from .lifting import lifting as lifting
from .lifting import optimal_lifting as optimal_lifting
from .wasserstein import Wasserstein as Wasserstein
from .wasserstein import wasserstein as wasserstein
