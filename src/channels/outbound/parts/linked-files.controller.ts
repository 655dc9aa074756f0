import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AttachmentContents } from '../../../attachments/contents/attachment-contents';
import { Public } from '../../../http/access.decorators';
import { ApiErrors } from '../../../http/api.decorators';
import { HasOwnBudget } from '../../../http/limits/request-budget';
import { NoQuery } from '../../../http/request.pipe';
import { LinkedFilesService } from './linked-files.service';

/** Serves files to a provider that takes no uploads, under addresses that work for ten minutes. */
@ApiTags('Channels')
@Public()
@Controller('channels/files')
export class LinkedFilesController {
  constructor(
    private readonly files: LinkedFilesService,
    private readonly contents: AttachmentContents,
  ) {}

  @Get(':token')
  @NoQuery()
  @HasOwnBudget(() => true)
  @ApiOperation({
    summary: 'Fetch a file that is being sent',
    description: 'For Instagram, which fetches a file instead of taking it.',
  })
  @ApiParam({ name: 'token', description: 'Signed name of the file, which expires.' })
  @ApiResponse({
    status: 200,
    description: 'The bytes.',
    content: { '*/*': { schema: { type: 'string', format: 'binary', example: 'bytes' } } },
  })
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND', 'RANGE_NOT_SATISFIABLE', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE')
  async send(
    @Param('token') token: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.contents.send(await this.files.require(token), request, response);
  }
}
