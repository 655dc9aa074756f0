import { Controller, Get, Param, Redirect, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../access.decorators';
import { DocsSiteService } from './docs-site.service';

@Controller()
@Public()
@ApiExcludeController()
export class DocsSiteController {
  constructor(private readonly site: DocsSiteService) {}

  @Get()
  @Redirect('/docs')
  redirectToDocs(): void {}

  @Get('docs')
  sendFirstPage(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.site.send('', request, response);
  }

  @Get('docs/*path')
  sendFile(@Param('path') path: string[], @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.site.send(path.join('/'), request, response);
  }
}
