from .attack import simulate_zone_attack as simulate_zone_attack
from .release import TrackRelease as TrackRelease
from .release import release_tracks as release_tracks
from .track import Track as Track
from .zones import RADIUS_M as RADIUS_M
from .zones import Zone as Zone
from .zones import Zones as Zones
from .zones import offsets as offsets
