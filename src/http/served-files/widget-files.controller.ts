import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../access.decorators';
import { WidgetFilesService } from './widget-files.service';

/** Serves the widget's loader, which pages of workspaces include, and the chunks that it imports. */
@Controller('widget')
@Public()
@ApiExcludeController()
export class WidgetFilesController {
  constructor(private readonly files: WidgetFilesService) {}

  @Get('v1.js')
  sendLoader(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.sendLoader(request, response);
  }

  @Get('assets/:fileName')
  sendChunk(
    @Param('fileName') fileName: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.files.sendChunk(fileName, request, response);
  }
}
