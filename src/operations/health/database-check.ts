import { Injectable, Logger, OnApplicationBootstrap, Optional } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { DATA_SOURCE, Database } from '../../database/database';
import { canChangeAudit, missingPrivileges, ownsTables } from '../../database/setup/database-roles';
import { OwnerDatabase } from '../../database/owner-database';
import { areMigrationsApplied } from '../../database/setup/migration-state';
import { missingRoleSettings } from '../../database/setup/role-settings';

/** Fault of a database role: privileges or settings are missing. The message may be public. */
export interface RoleFault {
  field: 'privileges' | 'settings';
  message: string;
}

/** Result of a check: whether all migrations are applied, and the faults of the database roles. */
export interface DatabaseState {
  migrations: 'applied' | 'pending';
  roleFaults: RoleFault[];
}

/**
 * Checks that the migrations are applied, and that the process's database roles have exactly their privileges
 * and settings.
 */
@Injectable()
export class DatabaseCheck implements OnApplicationBootstrap {
  private readonly logger = new Logger(DatabaseCheck.name);
  private logged = '';
  private isComplete = false;

  constructor(
    private readonly database: Database,
    @InjectDataSource(DATA_SOURCE) private readonly dataSource: DataSource,
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
   * Checks migrations and roles. A complete result is kept until a statement lacks a privilege, which was
   * taken away since. Without that cause no check is repeated: while `migrate` runs, the privileges of new
   * tables are missing.
   */
  async check(): Promise<DatabaseState> {
    if (this.database.pool.hasLackedPrivilege()) this.isComplete = false;
    if (this.isComplete) return { migrations: 'applied', roleFaults: [] };
    const roleFaults = await this.findFaults();
    // Without the privileges the migrations may not be readable.
    this.isComplete = roleFaults.length === 0 && (await areMigrationsApplied(this.dataSource));
    return { migrations: this.isComplete ? 'applied' : 'pending', roleFaults };
  }

  /**
   * Lists the faults of both database roles. The route that shows them is public, so only the log has the
   * names of the missing privileges and settings.
   */
  private async findFaults(): Promise<RoleFault[]> {
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
   * Logs the faults of the database roles, unless they are the same as in the last call: probes must not fill
   * the log.
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
