import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Options,
  Param,
  Post,
  Put,
  Req,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { UploadResponse } from '../../attachments/uploads/upload.dto';
import { Public } from '../../http/access.decorators';
import { NoQuery } from '../../http/request.pipe';
import { type Visitor, type VisitorRequest, type Widget } from './visitor';
import { VisitorFilesService } from './visitor-files.service';
import {
  ApiFileId,
  CurrentVisitor,
  CurrentWidget,
  ForVisitors,
  TokenRequired,
  WidgetAnswer,
  WidgetBytes,
  WidgetDone,
  WidgetErrors,
} from './widget.decorators';
import { CreateVisitorUpload } from './widget.dto';
import { CALLS, WidgetGuard, type WidgetLimit, WidgetSlotInterceptor } from './widget.guards';

const UPLOADS: WidgetLimit = { by: 'visitor', name: 'uploads', max: 30, excess: 'Too many files.' };
const UPLOADS_FROM_ADDRESS: WidgetLimit = {
  by: 'address',
  name: 'uploads-from',
  max: 60,
  excess: 'Too many files from this address.',
};
const UPLOADS_OF_WIDGET: WidgetLimit = {
  by: 'widget',
  name: 'uploads-of',
  max: 300,
  excess: 'Too many files to this widget.',
};

/** Serves the widget's routes of files. No trial guard applies: customers can write after the trial. */
@ApiTags('Widget')
@Public()
@UseGuards(WidgetGuard)
@UseInterceptors(WidgetSlotInterceptor)
@Controller('channels/widget/:siteKey')
export class VisitorFilesController {
  constructor(private readonly files: VisitorFilesService) {}

  /** Answers a CORS preflight; WidgetGuard has set its headers. */
  @Options(['uploads', 'uploads/:id', 'uploads/:id/content', 'attachments/:id/content'])
  @HttpCode(204)
  @ApiExcludeEndpoint()
  preflight(): void {}

  @Post('uploads')
  @NoQuery()
  @ForVisitors(CALLS, UPLOADS, UPLOADS_FROM_ADDRESS, UPLOADS_OF_WIDGET)
  @TokenRequired()
  @WidgetAnswer('Begin an upload for a message', UploadResponse, 201)
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  createUpload(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Body() upload: CreateVisitorUpload,
  ): Promise<UploadResponse> {
    return this.files.create(widget, visitor, upload);
  }

  @Put('uploads/:id/content')
  @NoQuery()
  @ForVisitors(CALLS, { ...UPLOADS, name: 'contents', max: 60 })
  @TokenRequired()
  @ApiFileId('upload')
  @ApiConsumes('application/octet-stream')
  @ApiBody({ schema: { type: 'string', format: 'binary', example: 'bytes' } })
  @WidgetAnswer("Send an upload's bytes; safe to repeat", UploadResponse, 200)
  @WidgetErrors('INVALID_QUERY', 'INVALID_BODY', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE')
  putContent(@Param('id') id: string, @Req() request: VisitorRequest): Promise<UploadResponse> {
    return this.files.putContent(id, request);
  }

  @Delete('uploads/:id')
  @HttpCode(204)
  @NoQuery()
  @ForVisitors(CALLS)
  @TokenRequired()
  @ApiFileId('upload')
  @WidgetDone('Delete an upload that no message has taken')
  @WidgetErrors('INVALID_QUERY', 'CONFLICT')
  deleteUpload(
    @CurrentWidget() widget: Widget,
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
  ): Promise<void> {
    return this.files.delete(widget, visitor, id);
  }

  @Get('attachments/:id/content')
  @NoQuery()
  @ForVisitors(CALLS)
  @TokenRequired()
  @ApiFileId('attachment')
  @WidgetBytes("Download a file of the visitor's conversation; takes `Range` and `If-None-Match`")
  @WidgetErrors('INVALID_QUERY', 'RANGE_NOT_SATISFIABLE')
  sendContent(
    @Param('id') id: string,
    @Req() request: VisitorRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.files.sendContent(id, request, response);
  }
}
