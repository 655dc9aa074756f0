import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Actor, type Principal } from '../access/principal';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import { ApiAnswer, ApiErrors, ApiId } from '../http/api.decorators';
import { ANSWER_HEADERS, headerRefs, RATE_LIMIT_HEADERS } from '../http/error-responses';
import { HasOwnBudget } from '../http/limits/request-budget';
import { NoQuery } from '../http/request.pipe';
import { AttachmentResponse, ContentQuery } from './attachment.dto';
import { AttachmentsService } from './attachments.service';
import { AttachmentContents } from './contents/attachment-contents';

const BYTES = { '*/*': { schema: { type: 'string', format: 'binary', example: 'bytes' } as const } };
/** Headers of an answer with bytes. Clients may keep it, and ask before they use it again. */
const CONTENT_HEADERS = headerRefs([
  ...ANSWER_HEADERS.filter((name) => name !== 'Cache-Control'),
  ...RATE_LIMIT_HEADERS,
]);
const EXAMPLE_ID = '019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b';

@ApiTags('Attachments')
@Controller('attachments/:id')
export class AttachmentsController {
  constructor(
    private readonly attachments: AttachmentsService,
    private readonly contents: AttachmentContents,
  ) {}

  @Get()
  @RequireScope('messages:read', 'conversations:read')
  @NoQuery()
  @ApiId('attachment', EXAMPLE_ID)
  @ApiAnswer('Get an attachment', AttachmentResponse)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  get(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<AttachmentResponse> {
    return this.attachments.get(tenant.id, id, actor);
  }

  @Get('content')
  @RequireScope('messages:read', 'conversations:read')
  @HasOwnBudget(() => true)
  @ApiId('attachment', EXAMPLE_ID)
  @ApiOperation({
    summary: "Download an attachment's bytes",
    description: 'Takes `Range`, `If-Range` and `If-None-Match`; the ETag is the SHA-256 of the bytes.',
  })
  @ApiResponse({ status: 200, description: 'The bytes.', content: BYTES, headers: CONTENT_HEADERS })
  @ApiResponse({
    status: 206,
    description: 'The bytes of the range.',
    content: BYTES,
    headers: CONTENT_HEADERS,
  })
  @ApiResponse({ status: 304, description: 'The bytes have this ETag.', headers: CONTENT_HEADERS })
  @ApiErrors(
    'INVALID_QUERY',
    'NOT_FOUND',
    'RANGE_NOT_SATISFIABLE',
    'UNAUTHENTICATED',
    'RATE_LIMITED',
    'INTERNAL',
    'UNAVAILABLE',
  )
  async getContent(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Query() { variant }: ContentQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const attachment = await this.attachments.require(tenant.id, id, actor);
    return this.contents.send(attachment, request, response, variant);
  }
}
