import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req, UseGuards } from '@nestjs/common';
import {
  type Actor,
  actorIdOf,
  CreateUpload,
  FILE_LIMITS,
  MAX_FILES,
  UploadContents,
  type UploadResponse,
  UploadsService,
} from 'conversation-messaging-service';
import { HasOwnBudget, Idempotent, type IdempotentRequest } from 'conversation-messaging-service/http';
import type { Request } from 'express';
import type { FileLimits } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { LimitedTo } from '../http/limit.guard';
import { TakesBytes } from '../http/same-origin.guard';
import { WritableGuard } from '../inbox/writable.guard';

/** Requests a minute of a person for the files of replies, each of which takes three. */
const REQUESTS_A_MINUTE = 360;

@Controller('api/workspaces/:workspaceId/uploads')
@UseGuards(WritableGuard)
export class UploadsController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly contents: UploadContents,
  ) {}

  @Get('limits')
  getLimits(): FileLimits {
    return { maxFiles: MAX_FILES, channels: FILE_LIMITS };
  }

  @Post()
  @LimitedTo(REQUESTS_A_MINUTE, 'uploads')
  create(
    @Param('workspaceId') workspaceId: string,
    @Body() body: CreateUpload,
    @CurrentActor() actor: Actor,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<UploadResponse> {
    return this.uploads.create(workspaceId, body, actor, request);
  }

  @Put(':id/content')
  @TakesBytes()
  @HasOwnBudget(() => true)
  @LimitedTo(REQUESTS_A_MINUTE, 'uploads')
  putContent(
    @Param('workspaceId') tenantId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
  ): Promise<UploadResponse> {
    return this.contents.put({ tenantId, uploader: actorIdOf(actor) }, id, request);
  }

  @Delete(':id')
  @HttpCode(204)
  @LimitedTo(REQUESTS_A_MINUTE, 'uploads')
  delete(
    @Param('workspaceId') tenantId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.uploads.delete({ tenantId, uploader: actorIdOf(actor) }, id);
  }
}
