import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsEmail, IsIn, IsObject, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
import { IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { MAX_BODY_CHARACTERS } from '../../messages/message.dto';

const CLIENT_MESSAGE_ID = /^[\w.:-]{1,100}$/;

/** Someone whom the workspace vouches for: their id, and nothing else that is said of them. */
export class VouchedVisitor {
  @ApiProperty({
    minLength: 1,
    maxLength: 200,
    description: "The workspace's own id of the person.",
    example: 'customer-1042',
  })
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  id: string;

  @ApiProperty({
    pattern: '^[0-9a-f]{64}$',
    description: "HMAC-SHA256 of the id under the widget's identity secret, in hexadecimal.",
    example: '7a1f9c5be2d04f8e6b3a2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f',
  })
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 hexadecimal digits in lower case' })
  signature: string;

  @ApiPropertyOptional({ maxLength: 200, example: 'Zoë Martín' })
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  @ApiPropertyOptional({ format: 'email', example: 'zoe@example.com' })
  @IsOptional()
  @IsEmail({}, { message: 'must be an e-mail address' })
  email?: string;
}

/** A session to be begun, or gone on with. */
export class OpenSession {
  @ApiPropertyOptional({
    description: 'A logged-in visitor. Left out: whoever the token names, or somebody new.',
  })
  @IsOptional()
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @Type(() => VouchedVisitor)
  visitor?: VouchedVisitor;
}

/** A message of the visitor's. */
export class PostMessage {
  @ApiProperty({
    pattern: CLIENT_MESSAGE_ID.source,
    description:
      'An id that the client makes up for this message, once: sent again under it, the message is stored once.',
    example: '5f0c2f4e-8d0b-4b58-9a63-0f5b0c3e7f11',
  })
  @Matches(CLIENT_MESSAGE_ID, { message: 'must be 1 to 100 letters, digits, or any of _ . : -' })
  @IsString()
  clientMessageId: string;

  @ApiProperty({
    minLength: 1,
    maxLength: MAX_BODY_CHARACTERS,
    pattern: '\\S',
    description: 'Not blank, valid Unicode, no NUL.',
    example: 'Do you ship to Spain?',
  })
  @MaxCharacters(MAX_BODY_CHARACTERS)
  @NotBlank()
  @IsStorableText()
  body: string;
}

export const VISITOR_RECEIPTS = ['DELIVERED', 'READ'] as const;
export type VisitorReceipt = (typeof VISITOR_RECEIPTS)[number];

/** How far a visitor has come. */
export class PostReceipt {
  @ApiProperty({
    description: 'The newest message it is about: all replies up to and including it are meant.',
    example: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90',
  })
  @IsString()
  messageId: string;

  @ApiProperty({
    enum: VISITOR_RECEIPTS,
    description: 'DELIVERED: the client has it. READ: the visitor saw it.',
  })
  @IsIn(VISITOR_RECEIPTS, { message: `must be one of ${VISITOR_RECEIPTS.join(', ')}` })
  status: VisitorReceipt;
}
