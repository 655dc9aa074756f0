import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { MessageDelivery } from '../common/message-delivery';
import { IsStorableText, MaxCharacters } from '../common/validators';
import {
  ATTACHMENT_PROBLEMS,
  ATTACHMENT_STATES,
  AttachmentEntity,
  type AttachmentProblem,
  type AttachmentState,
} from './attachment.entity';
import { FILE_KINDS, type FileKind } from '../common/file-limits';

const MAX_CAPTION_CHARACTERS = 1024;

/** Upload that a new message takes as an attachment. */
@ApiSchema({ name: 'AttachmentInput' })
export class AttachUpload {
  @ApiProperty({
    example: '019ab3f7-2a4c-7e51-8d20-3b9c5e7f1a42',
    description: 'An upload whose bytes are stored.',
  })
  @IsString()
  uploadId: string;

  @ApiPropertyOptional({ maxLength: MAX_CAPTION_CHARACTERS, example: 'The label of the parcel' })
  @IsOptional()
  @MaxCharacters(MAX_CAPTION_CHARACTERS)
  @IsStorableText()
  caption?: string;
}

const VARIANTS = ['original', 'rendition'] as const;

export class ContentQuery {
  @ApiPropertyOptional({
    enum: VARIANTS,
    description:
      '`rendition`: the thumbnail of a picture in WebP, or a voice message in MP3, where there is one. By default the original.',
  })
  @IsOptional()
  @IsIn(VARIANTS, { message: `must be ${VARIANTS.join(' or ')}` })
  variant?: (typeof VARIANTS)[number];
}

@ApiSchema({ name: 'Attachment' })
export class AttachmentResponse {
  @ApiProperty({ example: '019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b' })
  id: string;

  @ApiProperty({
    type: String,
    enum: FILE_KINDS,
    example: 'IMAGE',
    description: 'By the bytes; while they are not stored, as the sender says. More may come.',
  })
  kind: FileKind;

  @ApiProperty({
    type: String,
    enum: ATTACHMENT_STATES,
    example: 'READY',
    description:
      'PENDING: the bytes are on their way. READY: they are stored. FAILED: `problem` says why they will not come. LINK_ONLY: the provider forbids to store them. More may come.',
  })
  state: AttachmentState;

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: `Why it is FAILED: ${ATTACHMENT_PROBLEMS.join(', ')}; more may come. Else null.`,
  })
  problem: AttachmentProblem | null;

  @ApiProperty({ type: String, nullable: true, example: 'parcel.jpg' })
  name: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'image/jpeg' })
  contentType: string | null;

  @ApiProperty({ type: Number, nullable: true, example: 48211, description: 'In bytes.' })
  size: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    description: 'SHA-256 of the bytes, in hex; null unless READY.',
  })
  sha256: string | null;

  @ApiProperty({ type: Number, nullable: true, example: 1600, description: 'Of a picture, in pixels.' })
  width: number | null;

  @ApiProperty({ type: Number, nullable: true, example: 1200, description: 'Of a picture, in pixels.' })
  height: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    example: null,
    description: 'Of audio or video, if the channel names it: Telegram does.',
  })
  durationMs: number | null;

  @ApiProperty({ type: String, nullable: true, example: null, description: 'What its sender wrote to it.' })
  caption: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '/api/v1/attachments/019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b/content',
    description: 'Path of the bytes, for the same key; null unless READY.',
  })
  url: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '/api/v1/attachments/019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b/content?variant=rendition',
    description:
      "Path of a picture's thumbnail in WebP, or of a voice message in MP3; null if there is none, or it is not made yet.",
  })
  renditionUrl: string | null;

  @ApiProperty({
    type: MessageDelivery,
    nullable: true,
    example: null,
    description:
      "Progress of this file, which the channel's provider gets by a request of its own. null before the first request, in the widget, and for a customer's file: then the message's `delivery` says all.",
  })
  delivery: MessageDelivery | null;
}

export function toAttachment(attachment: AttachmentEntity): AttachmentResponse {
  const { id, kind, state, problem, name, contentType, size, sha256, width, height } = attachment;
  const { durationMs, caption, rendition, delivery } = attachment;
  const contentPath = `/api/v1/attachments/${id}/content`;
  return {
    id,
    kind,
    state,
    problem,
    name,
    contentType,
    size,
    sha256: sha256?.toString('hex') ?? null,
    width,
    height,
    durationMs,
    caption,
    url: state === 'READY' ? contentPath : null,
    renditionUrl: rendition === null ? null : `${contentPath}?variant=rendition`,
    delivery,
  };
}
