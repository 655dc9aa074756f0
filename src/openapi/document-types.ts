import { OpenAPIObject } from '@nestjs/swagger';

/** Parts of an OpenAPI document that `@nestjs/swagger` does not export by name. */
export type Components = NonNullable<OpenAPIObject['components']>;
export type SchemaOrReference = NonNullable<Components['schemas']>[string];
export type Reference = Extract<SchemaOrReference, { $ref: string }>;
export type Schema = Exclude<SchemaOrReference, Reference>;
export type RequestBody = Exclude<NonNullable<Components['requestBodies']>[string], Reference>;
export type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
export type Operation = NonNullable<Webhooks[string]['post']>;
export type Parameter = Exclude<NonNullable<Components['parameters']>[string], Reference>;
export type Responses = NonNullable<Components['responses']>;
