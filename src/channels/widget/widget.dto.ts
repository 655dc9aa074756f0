import { ApiProperty, ApiPropertyOptional, ApiSchema, OmitType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { AttachUpload } from '../../attachments/attachment.dto';
import { CreateUpload } from '../../attachments/uploads/upload.dto';
import { MAX_FILES } from '../../common/file-limits';
import { IsEmailAddress, IsItemList, IsPlainEmail, IsText, MaxCharacters } from '../../common/validators';
import { MAX_BODY_CHARACTERS } from '../../messages/message.dto';
import { ANSWER_LOCALES, type AnswerLocale } from '../../notices/answers/answer-mail';

export const CLIENT_MESSAGE_ID = /^[\w.:-]{1,100}$/;

/** Name and e-mail address, from a page or signed by the workspace's server. */
class Profile {
  @ApiPropertyOptional({ maxLength: 200, example: 'Zoë Martín' })
  @IsOptional()
  @IsText(200)
  name?: string;

  @ApiPropertyOptional({ format: 'email', example: 'zoe@example.com' })
  @IsOptional()
  @IsEmailAddress()
  email?: string;
}

export class IdentityClaims extends Profile {
  @IsText(200)
  sub: string;
}

const hasNoJwt = ({ jwt }: LoggedInVisitor) => typeof jwt !== 'string';

/** Logged-in visitor, proved by `jwt`, or by `id` and `signature`. `name` and `email` need no proof. */
export class LoggedInVisitor extends Profile {
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: 200,
    description: "The workspace's own id of the visitor, with `signature`.",
    example: 'customer-1042',
  })
  @ValidateIf(hasNoJwt)
  @IsText(200)
  id?: string;

  @ApiPropertyOptional({
    pattern: '^[0-9a-f]{64}$',
    description:
      "HMAC-SHA256 of the id under the widget's identity secret, in hexadecimal. It never expires.",
    example: '7a1f9c5be2d04f8e6b3a2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f',
  })
  @ValidateIf(hasNoJwt)
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 hexadecimal digits in lower case' })
  signature?: string;

  @ApiPropertyOptional({
    maxLength: 4096,
    description:
      "A JWT of the workspace's server, HS256 with the widget's identity secret: `sub` is its id of the visitor, `exp` " +
      'is required, `name` and `email` are verified by it. Instead of `id` and `signature`.',
    example: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjdXN0b21lci0xMDQyIiwiZXhwIjoxNzk1MzA5MjAwfQ.c2lnbmF0dXJl',
  })
  @IsOptional()
  @MaxCharacters(4096)
  @IsString()
  jwt?: string;
}

@ApiSchema({ name: 'SessionInput' })
export class OpenSession {
  @ApiPropertyOptional({
    description: 'For a logged-in visitor. Without it: the visitor of the token, or a new anonymous one.',
  })
  @IsOptional()
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @Type(() => LoggedInVisitor)
  visitor?: LoggedInVisitor;
}

const BODY = {
  minLength: 1,
  maxLength: MAX_BODY_CHARACTERS,
  pattern: '\\S',
  description: 'Not blank, valid Unicode, no NUL.',
  example: 'Do you ship to Spain?',
};

/** Reports whether a message's body has to be there and valid: if it is given, or nothing else is. */
const isBodyRequired = ({ body, attachments }: PostMessage) => body !== undefined || !attachments?.length;

@ApiSchema({ name: 'VisitorMessageInput' })
export class PostMessage extends Profile {
  @ApiProperty({
    pattern: CLIENT_MESSAGE_ID.source,
    description:
      'The client makes it up, once for each message. A retry with the same id stores nothing new.',
    example: '5f0c2f4e-8d0b-4b58-9a63-0f5b0c3e7f11',
  })
  @Matches(CLIENT_MESSAGE_ID, { message: 'must be 1 to 100 letters, digits, or any of _ . : -' })
  @IsString()
  clientMessageId: string;

  @ApiProperty({
    ...BODY,
    required: false,
    description: `Required without attachments. ${BODY.description}`,
  })
  @ValidateIf(isBodyRequired)
  @IsText(MAX_BODY_CHARACTERS)
  body: string;

  @ApiPropertyOptional({
    type: [AttachUpload],
    maxItems: MAX_FILES,
    description: "The visitor's uploads whose content is stored, in the order in which they are shown.",
  })
  @IsOptional()
  @IsItemList(MAX_FILES)
  @ValidateNested({ each: true })
  @Type(() => AttachUpload)
  attachments?: AttachUpload[];
}

@ApiSchema({ name: 'VisitorUploadInput' })
export class CreateVisitorUpload extends OmitType(CreateUpload, ['conversationId']) {}

@ApiSchema({ name: 'VisitorMessageEdit' })
export class EditMessage {
  @ApiProperty(BODY)
  @IsText(MAX_BODY_CHARACTERS)
  body: string;
}

export const VISITOR_RECEIPTS = ['DELIVERED', 'READ'] as const;
export type VisitorReceipt = (typeof VISITOR_RECEIPTS)[number];

@ApiSchema({ name: 'Receipt' })
export class PostReceipt {
  @ApiProperty({
    description: 'The receipt is for all outbound messages up to and including this one.',
    example: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90',
  })
  @IsString()
  messageId: string;

  @ApiProperty({
    enum: VISITOR_RECEIPTS,
    enumName: 'ReceiptStatus',
    description: 'DELIVERED: the client has them. READ: the visitor has seen them.',
  })
  @IsIn(VISITOR_RECEIPTS, { message: `must be one of ${VISITOR_RECEIPTS.join(', ')}` })
  status: VisitorReceipt;
}

@ApiSchema({ name: 'AnswerAddress' })
export class GiveAddress {
  @ApiPropertyOptional({
    format: 'email',
    example: 'zoe@example.com',
    description: 'Without it, answers go to the address that the contact has.',
  })
  @IsOptional()
  @IsPlainEmail()
  @IsEmailAddress()
  email?: string;

  @ApiProperty({ enum: ANSWER_LOCALES, example: 'en', description: "The page's language, for the mails." })
  @IsIn(ANSWER_LOCALES, { message: `must be one of ${ANSWER_LOCALES.join(', ')}` })
  locale: AnswerLocale;
}

@ApiSchema({ name: 'TypingNotice' })
export class PostTyping {
  @ApiProperty({ example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11', description: 'As the stream gave it.' })
  @IsString()
  conversationId: string;

  @ApiProperty({ description: 'Say true again every 3 s while it goes on: it counts for 6 s.' })
  @IsBoolean()
  isTyping: boolean;
}
