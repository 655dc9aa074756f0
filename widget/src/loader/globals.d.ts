/** Path of the app's module file, relative to the folder of the loader's script. build.mjs inserts it. */
declare const APP_PATH: string;
