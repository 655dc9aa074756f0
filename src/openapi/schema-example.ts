import { OpenAPIObject } from '@nestjs/swagger';
import { Schema, SchemaOrReference } from './document-types';

/** An example of a whole body, made of the examples that its fields have. */
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

/** What a reference within `#/components/schemas` names. */
export function resolveSchema(reference: string, { components }: OpenAPIObject): Schema {
  return components!.schemas![reference.split('/').at(-1)!] as Schema;
}
