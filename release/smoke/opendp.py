"""The extra opendp: a mechanism as a Measurement, which draws a report and knows its epsilon."""

import opendp.prelude as dp

import sfumato as sf

dp.enable_features("contrib", "honest-but-curious")
measurement = sf.files.as_opendp(sf.mechanisms.randomised_response(sf.Space("abc"), 1.0))
if measurement("a") not in "abc" or measurement.check(1, 0.99) or not measurement.check(1, 1.0):
    raise SystemExit("the Measurement is not that of the mechanism")
