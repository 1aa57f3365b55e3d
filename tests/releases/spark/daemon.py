"""The process of Spark that forks its workers, with what they need read once and not for each."""

import sfumato.releases.spark.tasks  # noqa: F401

if __name__ == "__main__":
    from pyspark.daemon import manager

    manager()
