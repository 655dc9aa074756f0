import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { type Actor, actorIdOf, type Principal } from '../../access/principal';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../../http/access.decorators';
import { ApiAnswer, ApiErrors, ApiId, ApiIdempotencyKey, ApiNoContent } from '../../http/api.decorators';
import { HasOwnBudget } from '../../http/limits/request-budget';
import { NoQuery } from '../../http/request.pipe';
import { Idempotent, type IdempotentRequest } from '../../idempotency/idempotent-request';
import { CreateUpload, UploadResponse } from './upload.dto';
import { ApiUploadErrors } from './upload-errors';
import { UploadContents } from './upload-contents';
import { UploadsService } from './uploads.service';

const EXAMPLE_ID = '019ab3f7-2a4c-7e51-8d20-3b9c5e7f1a42';

@ApiTags('Uploads')
@Controller('uploads')
export class UploadsController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly contents: UploadContents,
  ) {}

  @Post()
  @RequireScope('messages:write')
  @NoQuery()
  @ApiIdempotencyKey()
  @ApiAnswer('Begin an upload for a message', UploadResponse, {
    status: 201,
    headers: ['Idempotency-Replayed'],
  })
  @ApiUploadErrors('NOT_FOUND', 'IDEMPOTENCY_CONFLICT')
  create(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Body() upload: CreateUpload,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<UploadResponse> {
    return this.uploads.create(tenant.id, upload, actor, request);
  }

  @Get(':id')
  @RequireScope('messages:write')
  @NoQuery()
  @ApiId('upload', EXAMPLE_ID)
  @ApiAnswer('Get an upload', UploadResponse)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  get(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<UploadResponse> {
    return this.uploads.get({ tenantId: tenant.id, uploader: actorIdOf(actor) }, id);
  }

  @Put(':id/content')
  @RequireScope('messages:write')
  @NoQuery()
  @HasOwnBudget(() => true)
  @ApiId('upload', EXAMPLE_ID)
  @ApiConsumes('application/octet-stream')
  @ApiBody({ schema: { type: 'string', format: 'binary', example: 'bytes' } })
  @ApiAnswer("Send an upload's bytes; safe to repeat", UploadResponse)
  @ApiUploadErrors('NOT_FOUND')
  putContent(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Req() request: Request,
  ): Promise<UploadResponse> {
    return this.contents.put({ tenantId: tenant.id, uploader: actorIdOf(actor) }, id, request);
  }

  @Delete(':id')
  @RequireScope('messages:write')
  @HttpCode(204)
  @NoQuery()
  @ApiId('upload', EXAMPLE_ID)
  @ApiNoContent('Delete an upload that no message has taken')
  @ApiErrors('INVALID_QUERY', 'TRIAL_EXPIRED', 'NOT_FOUND', 'CONFLICT')
  delete(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<void> {
    return this.uploads.delete({ tenantId: tenant.id, uploader: actorIdOf(actor) }, id);
  }
}
