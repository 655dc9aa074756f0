import { Module } from '@nestjs/common';
import { ROUTE_MODULES } from './features';

/** What serves HTTP: the REST API below `/api/v1`, the providers' hooks and the widget beside it. */
@Module({ imports: ROUTE_MODULES })
export class ApiModule {}
