import { Module } from '@nestjs/common';
import { WidgetFilesController } from './widget-files.controller';
import { WidgetFilesService } from './widget-files.service';

/** Serves the built widget, outside the REST API. */
@Module({ controllers: [WidgetFilesController], providers: [WidgetFilesService] })
export class WidgetFilesModule {}
