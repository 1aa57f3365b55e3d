import createClient from "openapi-fetch";
import type { paths } from "./schema";

export const client = createClient<paths>({ baseUrl: "" });

/** A refusal of the server, in the words that it gave. */
export class Refused extends Error {
  constructor(message: string, readonly hint: string, readonly status: number) {
    super(message);
  }
}

export interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer, or what the server said against it. */
export async function told<T>(answer: Promise<Answer<T>>): Promise<T> {
  let { data, error, response } = await answer.catch(() => {
    throw new Refused("The studio does not answer.", "Is `sfumato studio` still running? Start it again: nothing is lost.", 0);
  });
  if (response.ok) return data as T;
  const { message, hint } = (error as { error?: { message: string; hint: string } })?.error ?? { message: response.statusText, hint: "" };
  throw new Refused(message, hint, response.status);
}

/** A file as the body of a request. */
export function sent(file: File) {
  return { body: file as never, bodySerializer: (body: unknown) => body as never, headers: { "Content-Type": "application/octet-stream" } };
}
