import type { operations, paths } from './generated/openapi.ts';

/** Name of an operation of the API, as its OpenAPI document gives it. */
export type OperationId = keyof operations;

/** Path of the API with the names of its parameters, such as `/api/v1/conversations/{id}`. */
export type ApiPath = keyof paths;

/** Parameters that an operation takes in its query string. */
export type QueryOf<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

/** Body that an operation takes. */
export type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** Body of an operation's answer. */
export type AnswerOf<Id extends OperationId> =
  operations[Id]['responses'] extends Record<number, { content: { 'application/json': infer Answer } }>
    ? Answer
    : void;
