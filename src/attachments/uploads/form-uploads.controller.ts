import { Controller, Post, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { type Actor, type Principal } from '../../access/principal';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../../http/access.decorators';
import { ApiAnswer } from '../../http/api.decorators';
import { HasOwnBudget } from '../../http/limits/request-budget';
import { NoQuery } from '../../http/request.pipe';
import { FormUploads, MAX_FORM_FILE_BYTES } from './form-uploads';
import { ApiUploadErrors } from './upload-errors';
import { MAX_NAME_CHARACTERS, UploadResponse } from './upload.dto';

@ApiTags('Attachments')
@Controller('attachments')
export class FormUploadsController {
  constructor(private readonly forms: FormUploads) {}

  @Post()
  @RequireScope('messages:write')
  @NoQuery()
  @HasOwnBudget(() => true)
  @ApiConsumes('multipart/form-data')
  @ApiBody({
    schema: {
      type: 'object',
      required: ['conversationId', 'file'],
      properties: {
        conversationId: { type: 'string', example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11' },
        sha256: {
          type: 'string',
          pattern: '^[0-9a-f]{64}$',
          example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          description: 'SHA-256 of the bytes, in hex. Content with another one is refused.',
        },
        file: {
          type: 'string',
          format: 'binary',
          example: 'bytes',
          description: `The last part, with a file name of at most ${MAX_NAME_CHARACTERS} characters.`,
        },
      },
    },
  })
  @ApiAnswer('Upload a file in one step', UploadResponse, {
    status: 201,
    operationId: 'uploadFile',
    description: `Takes a form with a file of at most ${MAX_FORM_FILE_BYTES / 1024 / 1024} MiB, as curl -F sends it, and answers as the two steps do. It has no Idempotency-Key: a repeated request makes another upload.`,
  })
  @ApiUploadErrors('NOT_FOUND')
  create(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
  ): Promise<UploadResponse> {
    return this.forms.receive(tenant.id, request, actor);
  }
}
