from .files import atomically as atomically
from .files import check_writable as check_writable
from .files import hidden_name as hidden_name
from .files import owner_only as owner_only
from .files import owner_only_like as owner_only_like
from .files import try_lock as try_lock
from .processes import worker_pool as worker_pool
