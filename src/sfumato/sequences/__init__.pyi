from .chain import MarkovChain as MarkovChain
from .follower import Follower as Follower
from .follower import PositionEstimate as PositionEstimate
from .follower import PrivateFollower as PrivateFollower
from .movement import MovementModel as MovementModel
from .movement import PrivateMovementModel as PrivateMovementModel
from .movement import day_positions as day_positions
