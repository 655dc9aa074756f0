import type { operations, paths } from './generated/openapi.ts';

export type OperationId = keyof operations;

/** Path of a route with placeholders for its parameters, such as `/api/v1/conversations/{id}`. */
export type ApiPath = keyof paths;

export type QueryOf<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

/** JSON body of an operation's request; undefined if the operation has none. */
export type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** JSON body of an operation's successful response; void if the operation returns none. */
export type AnswerOf<Id extends OperationId> =
  operations[Id]['responses'] extends Record<number, { content: { 'application/json': infer Answer } }>
    ? Answer
    : void;
