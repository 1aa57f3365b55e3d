"""A program: a release on a cluster of Spark that speculates, whose tasks note each report that they see.

Spark does not speculate in local mode, and never begins a second attempt on the host of the first. So here are a
master and two workers, which are said to be on two hosts: two addresses of this one.
"""

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from sfumato.releases.spark import prepare_on_spark
from tests.releases.spark.cases import BLUR

HOSTS = ("127.0.0.1", "127.0.0.2")
TASK, PATIENCE_S = 0, 300


def racing(seen):
    """Return a function that notes the reports it sees; one task waits until two attempts have noted theirs."""

    def watching(batches):
        from pyarrow import Table, parquet
        from pyspark import TaskContext

        task = TaskContext.get()
        for number, batch in enumerate(batches):
            name = f"{task.partitionId()}.{number}.{task.attemptNumber()}"
            parquet.write_table(Table.from_batches([batch]), f"{seen}/{name}.part")
            Path(f"{seen}/{name}.part").rename(f"{seen}/{name}.parquet")
            until = time.monotonic() + PATIENCE_S
            while task.partitionId() == TASK and time.monotonic() < until:
                if len(list(Path(seen).glob(f"{TASK}.{number}.*.parquet"))) > 1:
                    break
                time.sleep(0.1)
            yield batch

    return watching


@contextmanager
def cluster(folder: Path):
    """Run a master and a worker on each host in the driver's own process; executors are processes of theirs."""
    SparkContext._ensure_initialized()
    jvm = SparkContext._jvm
    conf = jvm.org.apache.spark.SparkConf()
    nothing = jvm.scala.Option.empty()
    master = jvm.org.apache.spark.deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, conf)
    address = f"spark://127.0.0.1:{master._1().address().port()}"
    addresses = SparkContext._gateway.new_array(jvm.String, 1)
    addresses[0] = address
    workers = [
        jvm.org.apache.spark.deploy.worker.Worker.startRpcEnvAndEndpoint(
            host, 0, 0, 1, 600, addresses, str(folder / host), nothing, conf, nothing
        )
        for host in HOSTS
    ]
    try:
        yield address
    finally:
        for each in (*workers, master._1()):
            each.shutdown()


def main(source: str, target: str, seen: str, events: str) -> None:
    options = {
        "spark.speculation": "true",
        "spark.speculation.interval": "200ms",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.3",
        "spark.sql.files.maxPartitionBytes": "20000",
        "spark.sql.files.openCostInBytes": "20000",
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": Path(events).as_uri(),
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
    }
    with cluster(Path(events).parent / "workers") as address:
        builder = SparkSession.builder.config(conf=SparkConf()).master(address)
        for name, value in options.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        prepared = prepare_on_spark(BLUR, Path(source), spark=spark, column="answer", keep=["id"])
        frame = prepared.frame.mapInArrow(racing(seen), prepared.frame.schema)
        frame.write.parquet(target)
        prepared.forget()
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
