//go:build !race

package hostile

const raceFactor = 1
