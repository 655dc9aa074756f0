import { Module } from '@nestjs/common';
import { TableDeclaration } from '../database/tables/table-declaration';
import { TableRegistry } from '../database/tables/table-registry';
import { OutboxModule } from '../outbox/outbox.module';
import { AlertWriter } from './alert-writer';
import { AlertNewsRepository } from './alert-news.repository';
import { AlertsRepository } from './alerts.repository';
import { AlertsService } from './alerts.service';

const KEPT_DAYS = 90;

const ALERT_TABLES: TableDeclaration[] = [
  {
    name: 'alerts',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: {},
    erasure: { none: 'It has ids and kinds alone, and the id of a message names nobody.' },
    export: { none: 'It tells how the settings of a workspace work.' },
    retention: { age: 'resolved_at', keptHours: KEPT_DAYS * 24, among: 'resolved_at IS NOT NULL' },
  },
];

@Module({
  imports: [OutboxModule],
  providers: [AlertNewsRepository, AlertsRepository, AlertWriter, AlertsService],
  exports: [AlertNewsRepository, AlertWriter, AlertsService],
})
export class AlertsModule {
  constructor(tables: TableRegistry) {
    tables.register(...ALERT_TABLES);
  }
}
