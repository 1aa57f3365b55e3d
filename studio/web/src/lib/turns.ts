import { unwrap, type Answer } from "./calls";

/** The visitor went elsewhere while the server was asked: its answer is about what is not shown any more. */
export class Left extends Error {}

/** Asks the server; it throws `Left` instead of an answer that comes too late. */
export type Ask = <T>(answer: Promise<Answer<T>>) => Promise<T>;

/** Counts which places of which workspace are open, so that late answers about others are dropped. */
export class Turns {
  #turn = 0;

  /** Something else is opened: earlier questions are dropped. */
  next(): Ask {
    this.#turn += 1;
    return this.now();
  }

  /** Ask about what is open now. */
  now(): Ask {
    const still = this.mark();
    return async (answer) => {
      try {
        const data = await unwrap(answer);
        if (still()) return data;
      } catch (problem) {
        if (still()) throw problem;
      }
      throw new Left();
    };
  }

  /** Remember what is open now; the answer says whether it still is. */
  mark(): () => boolean {
    const turn = this.#turn;
    return () => turn === this.#turn;
  }
}

/** Runs one task at a time; of those that arrive meanwhile only the last. */
export class Latest {
  #next: (() => Promise<void>) | null = null;
  #busy = false;

  do(task: () => Promise<void>): void {
    this.#next = task;
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#next) {
      const task = this.#next;
      this.#next = null;
      await task().catch(() => {});
    }
    this.#busy = false;
  }
}
