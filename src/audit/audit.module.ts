import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from '../outbox/outbox.module';
import { AuditEntryEntity } from './audit-entry.entity';
import { AuditService } from './audit.service';

@Module({
  imports: [TypeOrmModule.forFeature([AuditEntryEntity]), OutboxModule],
  providers: [AuditService],
  exports: [AuditService],
})
export class AuditModule {}
