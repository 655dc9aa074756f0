/** Path of the module file with the parts that draw files, relative to the app. build.mjs inserts it. */
declare const FILE_PARTS_PATH: string;
