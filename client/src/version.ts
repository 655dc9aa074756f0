/** Version of this package: the build puts that of package.json in its place. */
export const VERSION = '0.0.0';
