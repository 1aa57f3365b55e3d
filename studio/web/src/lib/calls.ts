import createClient from "openapi-fetch";
import type { paths } from "./schema";
import type { Column } from "./types";

export const client = createClient<paths>({ baseUrl: "" });

/** A refusal of the server in its own words, with the columns of a file that it could not read. */
export class Refusal extends Error {
  constructor(message: string, readonly hint: string, readonly columns: Column[] = []) {
    super(message);
  }
}

interface Failure {
  error?: { message: string; hint: string; columns?: Column[] };
}

export interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The visitor went elsewhere while the server was asked: its answer is about what is not shown any more. */
export class StaleAnswer extends Error {}

/** Return the data of an answer, or throw the server's refusal; `StaleAnswer` where the question was taken back. */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer.catch((problem: unknown) => {
    if (problem instanceof DOMException && problem.name === "AbortError") throw new StaleAnswer();
    throw new Refusal("The studio does not answer.", "Is `sfumato studio` still running? Start it again: nothing is lost.");
  });
  if (response.ok) return data as T;
  const { message, hint, columns } = (error as Failure | undefined)?.error ?? { message: response.statusText, hint: "" };
  throw new Refusal(message, hint, columns);
}

/** Return the options of a request whose body is a file. */
export function upload(file: File) {
  return { body: file as never, bodySerializer: (body: unknown) => body as never, headers: { "Content-Type": "application/octet-stream" } };
}
