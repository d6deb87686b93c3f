import type { FastifyError, FastifyInstance } from "fastify";

/** A call that is refused. */
export class Problem extends Error {
  constructor(
    readonly statusCode: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Answers what is thrown as problem details (RFC 9457). */
export function addProblems(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const status = error.statusCode ?? 500;
    const problem = { title: error.name, status, detail: status < 500 ? error.message : undefined, code: error.code };
    return reply.status(status).header("content-type", "application/problem+json").send(problem);
  });
}
