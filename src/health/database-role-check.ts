import { Injectable, Logger, OnApplicationBootstrap, Optional } from '@nestjs/common';
import { Database } from '../database/database';
import { canChangeAudit, missingPrivileges, ownsTables } from '../database/database-roles';
import { OwnerDatabase } from '../database/owner-database';

/** Whether the process's database roles may do what they must, and the service's no more than that. */
@Injectable()
export class DatabaseRoleCheck implements OnApplicationBootstrap {
  private readonly logger = new Logger(DatabaseRoleCheck.name);
  private logged = '';

  constructor(
    private readonly database: Database,
    @Optional() private readonly owner?: OwnerDatabase,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    try {
      if (await canChangeAudit(this.database))
        this.logger.warn('the audit log is not protected: the database role of the service can change it');
      await this.findFaults();
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'failed to check the database roles');
    }
  }

  /** What is missing. The log has the details, which no caller of a public route sees. */
  async findFaults(): Promise<string[]> {
    const missing = await missingPrivileges(this.database, null);
    const ownerFault = this.owner && (await this.findOwnerFault(this.owner));
    this.log({ ...(missing.length > 0 && { missing }), ...(ownerFault && { ownerFault }) });
    return [
      ...(missing.length > 0 ? ["of the service's database role are missing"] : []),
      ...(ownerFault ? ["of the tables' owner are missing"] : []),
    ];
  }

  private async findOwnerFault(owner: OwnerDatabase): Promise<string | null> {
    try {
      return (await ownsTables(owner)) ? null : 'the role is not the owner of the tables';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Not the same at every probe. */
  private log(faults: object): void {
    const text = JSON.stringify(faults);
    if (text !== this.logged && text !== '{}') this.logger.error(faults, 'database roles lack privileges');
    this.logged = text;
  }
}
