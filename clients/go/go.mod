module example.com/countersign

go 1.19
