import { StaleAnswer, unwrap, type Answer } from "./calls";

/** Asks the server; it throws `StaleAnswer` instead of an answer that comes too late. */
export type Ask = <T>(answer: Promise<Answer<T>>) => Promise<T>;

/** Counts which places of which workspace are open, so that late answers about others are dropped. */
export class RequestEpoch {
  #epoch = 0;
  #abort = new AbortController();

  /** Ends when something else is opened. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Something else is opened: earlier questions are taken back, and answers that still arrive are dropped. */
  advance(): Ask {
    this.#epoch += 1;
    this.#abort.abort();
    this.#abort = new AbortController();
    return this.asker();
  }

  /** Ask about what is open now. */
  asker(): Ask {
    const isCurrent = this.checker();
    return async (answer) => {
      try {
        const data = await unwrap(answer);
        if (isCurrent()) return data;
      } catch (problem) {
        if (isCurrent()) throw problem;
      }
      throw new StaleAnswer();
    };
  }

  /** Remember what is open now; the answer says whether it still is. */
  checker(): () => boolean {
    const epoch = this.#epoch;
    return () => epoch === this.#epoch;
  }
}

/** Runs one task at a time; of those that arrive meanwhile only the last. */
export class TaskQueue {
  #pending: (() => Promise<void>) | null = null;
  #isRunning = false;

  enqueue(task: () => Promise<void>): void {
    this.#pending = task;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#pending) {
      const task = this.#pending;
      this.#pending = null;
      await task().catch(() => {});
    }
    this.#isRunning = false;
  }
}
