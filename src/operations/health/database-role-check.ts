import { Injectable, Logger, OnApplicationBootstrap, Optional } from '@nestjs/common';
import { Database } from '../../database/database';
import { canChangeAudit, missingPrivileges, ownsTables } from '../../database/setup/database-roles';
import { OwnerDatabase } from '../../database/owner-database';
import { missingRoleSettings } from '../../database/setup/role-settings';

/** Fault of a database role: that privileges or settings are missing, in words that may be public. */
export interface RoleFault {
  field: 'privileges' | 'settings';
  message: string;
}

/**
 * Checks that the process's database roles have their privileges and settings, and the service's role no
 * privilege beyond them.
 */
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

  /**
   * Lists the faults of both database roles. The names of what is missing are in the log alone, because the
   * route that shows the faults is public.
   */
  async findFaults(): Promise<RoleFault[]> {
    const missing = await missingPrivileges(this.database, null);
    const ownerFault = this.owner && (await this.findOwnerFault(this.owner));
    const settings = await this.findMissingSettings(this.database);
    if (this.owner && !ownerFault) settings.push(...(await this.findMissingSettings(this.owner)));
    this.log({
      ...(missing.length > 0 && { missing }),
      ...(ownerFault && { ownerFault }),
      ...(settings.length > 0 && { settings }),
    });
    return [
      ...(missing.length > 0 ? [fault('privileges', "of the service's database role are missing")] : []),
      ...(ownerFault ? [fault('privileges', "of the tables' owner are missing")] : []),
      ...(settings.length > 0 ? [fault('settings', 'of the database roles are missing: run "migrate"')] : []),
    ];
  }

  private async findMissingSettings(database: Database | OwnerDatabase): Promise<string[]> {
    const missing = await missingRoleSettings(database);
    // The settings may have been stored since: new connections would have them.
    if (missing.length > 0) await database.renewConnections();
    return missing;
  }

  private async findOwnerFault(owner: OwnerDatabase): Promise<string | null> {
    try {
      return (await ownsTables(owner)) ? null : 'the role is not the owner of the tables';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /**
   * Logs the faults of the database roles if they have changed since the last call, so that probes do not
   * fill the log.
   */
  private log(faults: object): void {
    const text = JSON.stringify(faults);
    if (text !== this.logged && text !== '{}')
      this.logger.error(faults, 'database roles lack privileges or settings');
    this.logged = text;
  }
}

function fault(field: RoleFault['field'], message: string): RoleFault {
  return { field, message };
}
