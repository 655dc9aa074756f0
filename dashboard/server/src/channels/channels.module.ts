import { Module } from '@nestjs/common';
import { ChannelsController } from './channels.controller';
import { WidgetPreviewController } from './widget-preview.controller';

@Module({ controllers: [ChannelsController, WidgetPreviewController] })
export class ChannelsModule {}
