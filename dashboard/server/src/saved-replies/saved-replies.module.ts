import { Module } from '@nestjs/common';
import { SavedRepliesController } from './saved-replies.controller';

@Module({ controllers: [SavedRepliesController] })
export class DashboardSavedRepliesModule {}
