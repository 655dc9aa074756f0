import { Module } from '@nestjs/common';
import { DocsSiteController } from './docs-site.controller';
import { DocsSiteService } from './docs-site.service';
import { WidgetFilesController } from './widget-files.controller';
import { WidgetFilesService } from './widget-files.service';

@Module({
  controllers: [DocsSiteController, WidgetFilesController],
  providers: [DocsSiteService, WidgetFilesService],
})
export class ServedFilesModule {}
