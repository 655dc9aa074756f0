import { OpenAPIObject } from '@nestjs/swagger';
import { Schema, SchemaOrReference } from './document-types';

/** Makes an example of a whole body from the examples of its fields. */
export function schemaExample(schema: SchemaOrReference, document: OpenAPIObject): unknown {
  if ('$ref' in schema) return schemaExample(resolveSchema(schema.$ref, document), document);
  if (schema.example !== undefined) return schema.example;
  if (schema.type === 'array') return schema.items ? [schemaExample(schema.items, document)] : [];
  if (schema.properties) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, schemaExample(field, document)]));
  }
  return null;
}

/** Returns the schema that a reference within `#/components/schemas` names. */
export function resolveSchema(reference: string, { components }: OpenAPIObject): Schema {
  return components!.schemas![reference.split('/').at(-1)!] as Schema;
}
