import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { FILE_KINDS, type FileKind, MAX_FILE_BYTES } from '../../common/file-limits';
import { validatorFault } from '../../common/error-texts';
import { IsText } from '../../common/validators';
import { FileEntity } from '../files/file.entity';

export const MAX_NAME_CHARACTERS = 500;
const MAX_TYPE_CHARACTERS = 255;
const TYPE = /^[\w.+-]+\/[\w.+-]+( *;.*)?$/;
const SHA256 = /^[0-9a-f]{64}$/;

@ApiSchema({ name: 'UploadInput' })
export class CreateUpload {
  @ApiProperty({
    example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
    description: 'The conversation that it is for.',
  })
  @IsString()
  conversationId: string;

  @ApiProperty({ maxLength: MAX_NAME_CHARACTERS, example: 'parcel.jpg' })
  @IsText(MAX_NAME_CHARACTERS)
  name: string;

  @ApiPropertyOptional({
    maxLength: MAX_TYPE_CHARACTERS,
    example: 'image/jpeg',
    description: 'Counts only where the bytes do not tell, as between kinds of plain text.',
  })
  @IsOptional()
  @IsString()
  @Matches(TYPE, validatorFault('wrong_form'))
  contentType?: string;

  @ApiProperty({ minimum: 1, maximum: MAX_FILE_BYTES, example: 48211, description: 'Number of bytes.' })
  @IsInt()
  @Min(1)
  @Max(MAX_FILE_BYTES)
  size: number;

  @ApiPropertyOptional({
    pattern: SHA256.source,
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    description: 'SHA-256 of the bytes, in hex. Content with another one is refused.',
  })
  @IsOptional()
  @Matches(SHA256, validatorFault('wrong_form'))
  sha256?: string;
}

@ApiSchema({ name: 'Upload' })
export class UploadResponse {
  @ApiProperty({ example: '019ab3f7-2a4c-7e51-8d20-3b9c5e7f1a42' })
  id: string;

  @ApiProperty({
    type: String,
    enum: ['CREATED', 'READY'],
    example: 'CREATED',
    description: 'CREATED: send its content. READY: a message can take it. More may come.',
  })
  state: 'CREATED' | 'READY';

  @ApiProperty({ example: 'parcel.jpg' })
  name: string;

  @ApiProperty({ example: 48211, description: 'Number of bytes.' })
  size: number;

  @ApiProperty({
    type: String,
    enum: FILE_KINDS,
    nullable: true,
    example: null,
    description: 'null until READY.',
  })
  kind: FileKind | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'By the bytes; null until READY.',
  })
  contentType: string | null;

  @ApiProperty({ type: String, nullable: true, example: null, description: 'In hex; null until READY.' })
  sha256: string | null;

  @ApiProperty({ type: Number, nullable: true, example: null, description: 'Of a picture, in pixels.' })
  width: number | null;

  @ApiProperty({ type: Number, nullable: true, example: null, description: 'Of a picture, in pixels.' })
  height: number | null;

  @ApiProperty({
    type: Date,
    nullable: true,
    example: '2026-11-20T10:41:07.512Z',
    description:
      'When it is deleted if its content is missing (after an hour) or no message takes it (after a day). null once a message has taken it.',
  })
  expiresAt: Date | null;
}

export function toUpload(file: FileEntity): UploadResponse {
  const { id, storedAt, name, size, kind, contentType, sha256, width, height, deleteAt } = file;
  return {
    id,
    state: storedAt === null ? 'CREATED' : 'READY',
    name,
    size,
    kind,
    contentType,
    sha256: sha256?.toString('hex') ?? null,
    width,
    height,
    expiresAt: deleteAt,
  };
}
