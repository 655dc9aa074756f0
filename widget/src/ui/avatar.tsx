import { initialsOf } from './text';

/** Draws the initials of an agent who has a name. */
export function Avatar({ name }: { name: string | null }) {
  return name ? (
    <span class="avatar" aria-hidden="true">
      {initialsOf(name)}
    </span>
  ) : null;
}
