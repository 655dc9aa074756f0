// Prints how many files a program has read by `require` when it ends.
process.on('exit', () => console.log(`\n${Object.keys(require.cache).length - 1} files`));
