import { Module } from '@nestjs/common';
import { DocsSiteController } from './docs-site.controller';
import { DocsSiteService } from './docs-site.service';

/** Serves the built documentation, outside the REST API. */
@Module({ controllers: [DocsSiteController], providers: [DocsSiteService] })
export class DocsSiteModule {}
